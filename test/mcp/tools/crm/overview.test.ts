/** Reference: tools.md#get-pipeline-summary, tools.md#get-customer-card. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { date, type Json, pointer } from '../../../support/records.ts';
import { bytesOf, MAX_BYTES } from '../answers.ts';
import { byUser } from '../callers.ts';
import { onEachEngine } from '../engines.ts';
import { useFlag } from '../restored.ts';
import { lookupId, permit } from '../tables.ts';

onEachEngine('overview', (tools) => {
  const { use, refused, create, call } = tools;
  useFlag(tools, 'TimeZone', 'Asia/Jerusalem');
  const statuses: Record<string, string> = {};
  const status = (name: string) => pointer('SaleStatuses', statuses[name] ?? '');
  let account = '';
  let source = '';
  /** The summary that earlier suites left behind. */
  let others: Json;

  before(async () => {
    statuses.new = await lookupId(tools, 'SaleStatuses', { IsWon: false, IsLost: false });
    statuses.won = await lookupId(tools, 'SaleStatuses', { IsWon: true });
    statuses.lost = await lookupId(tools, 'SaleStatuses', { IsLost: true });
    source = await lookupId(tools, 'LeadSource', {});
    others = await use('Get-Pipeline-Summary', { groupBy: 'month' });
    account = await create('Accounts', { Name: 'Big', Comment: 'x'.repeat(5_000), CityId: pointer('CityList', 'none000000') });
    const at = (ClosingDate: string) => ({ ClosingDate: date(ClosingDate) });
    const of = { AccountId: pointer('Accounts', account) };
    await create('Sales', { ...of, Name: 'a', Total: 100.1, SaleStatusId: status('new'), ...at('2025-01-31T22:30:00.000Z') });
    await create('Sales', { ...of, Name: 'b', Total: 200.2, SaleStatusId: status('new'), ...at('2025-01-31T21:30:00.000Z') });
    await create('Sales', { ...of, Name: 'c', Total: 50, SaleStatusId: status('won'), ...at('2025-02-10T00:00:00.000Z') });
    await create('Sales', { ...of, Name: 'd', SaleStatusId: status('lost'), ...at('2025-02-11T00:00:00.000Z') });
    await create('Sales', {
      Name: 'e',
      Total: 7,
      LeadSourceId: pointer('LeadSource', source),
      ...at('2025-03-01T00:00:00.000Z'),
    });
    await create('Sales', { Name: 'now', Total: 1 });
  });

  test('Get-Pipeline-Summary: by status, in the order of the statuses', async () => {
    const { results, ...all } = await use('Get-Pipeline-Summary', { from: '2025-01-01', to: '2026-01-01' });
    assert.deepEqual([all.groupBy, all.count, all.total], ['status', 5, 357.3]);
    assert.deepEqual(all.open, { count: 3, total: 307.3 });
    assert.deepEqual(all.won, { count: 1, total: 50 });
    assert.deepEqual(all.lost, { count: 1, total: 0 });
    assert.deepEqual(
      results.map(({ objectId, count, total }: Json) => [objectId, count, total]),
      [
        [statuses.new, 2, 300.3],
        [statuses.won, 1, 50],
        [statuses.lost, 1, 0],
        [null, 1, 7],
      ],
    );
    assert.equal(typeof results[0].Name, 'string');
  });

  test('Get-Pipeline-Summary: months are those of the system', async () => {
    const { results, timeZone } = await use('Get-Pipeline-Summary', { groupBy: 'month', to: '2026-01-01' });
    assert.equal(timeZone, 'Asia/Jerusalem');
    const theirs = new Set(others.results.map(({ month }: Json) => month));
    const ours = results.filter(({ month }: Json) => !theirs.has(month));
    assert.deepEqual(
      ours.map(({ month, count, total }: Json) => [month, count, total]),
      [
        ['2025-01', 1, 200.2],
        ['2025-02', 3, 150.1],
        ['2025-03', 1, 7],
      ],
    );
    assert.equal((await use('Get-Pipeline-Summary')).count, others.count + 6);
  });

  test('Get-Pipeline-Summary: by source and owner, and of one owner', async () => {
    const user = await byUser(tools, ['Sales']);
    const [bySource] = (await use('Get-Pipeline-Summary', { groupBy: 'source', from: '2025-02-20', to: '2026-01-01' })).results;
    assert.deepEqual([bySource.objectId, bySource.total], [source, 7]);
    const sale = await create('Sales', { Name: 'mine', Total: 3, OwnerId: pointer('_User', user.id) });
    const mine = await user.use('Get-Pipeline-Summary', { ownerId: user.id, groupBy: 'owner' });
    assert.deepEqual([mine.count, mine.total, mine.results[0].objectId, mine.results[0].Name], [1, 3, user.id, 'Noa']);
    await call('DELETE', `/platform/classes/Sales/${sale}`);
  });

  test('Get-Pipeline-Summary: wrong arguments, and what is not to be seen', async () => {
    await refused('Get-Pipeline-Summary', { groupBy: 'week' }, 107, /must be one of status, owner, month, source/);
    await refused('Get-Pipeline-Summary', { from: 'yesterday' }, 107, /ISO 8601/);
    const user = await byUser(tools, ['Sales']);
    const clp = (await call('GET', '/platform/schemas/SaleStatuses')).body.classLevelPermissions;
    await permit(tools, 'SaleStatuses', { ...clp, find: {} });
    const reported = await user.use('Get-Pipeline-Summary');
    assert.deepEqual([reported.hidden, reported.open], [['SaleStatuses'], undefined]);
    await permit(tools, 'SaleStatuses', clp);
    const sales = (await call('GET', '/platform/schemas/Sales')).body.classLevelPermissions;
    await permit(tools, 'Sales', { ...sales, find: {} });
    await user.refused('Get-Pipeline-Summary', {}, 119, /^Permission denied for action find on class Sales/);
    await permit(tools, 'Sales', sales);
  });

  test('Get-Customer-Card: all sections in one call', async () => {
    const of = { AccountId: pointer('Accounts', account) };
    const done = pointer('TaskStatuses', await lookupId(tools, 'TaskStatuses', { IsClosed: true }));
    const open = pointer('TaskStatuses', await lookupId(tools, 'TaskStatuses', { IsClosed: false }));
    const contact = await create('Contacts', { ...of, FirstName: 'Dana' });
    const task = await create('Tasks', { ...of, Name: 'open', StatusId: open });
    await create('Tasks', { ...of, Name: 'done', StatusId: done });
    await create('Tasks', { Name: 'of nobody' });
    await create('Notes', { ...of, Comment: 'first' });
    await create('Emails', { ...of, Subject: 'old', SendAt: date('2025-01-01T00:00:00.000Z') });
    await create('SMS', { ...of, Content: 'new', SendAt: date('2025-06-01T00:00:00.000Z') });
    const card = await use('Get-Customer-Card', { objectId: account });
    assert.deepEqual(Object.keys(card), ['details', 'contacts', 'sales', 'tasks', 'cases', 'activities', 'notes', 'messages']);
    assert.deepEqual([card.details.Name, card.details.Comment.length], ['Big', 1_001]);
    assert.equal(card.details._phone_key, undefined);
    const ids = (section: string): string[] => card[section].results.map((row: Json) => row.objectId);
    assert.deepEqual([ids('contacts'), ids('tasks'), ids('cases')], [[contact], [task], []]);
    assert.deepEqual(card.sales.results.map((row: Json) => row.Name).sort(), ['a', 'b']);
    assert.equal(typeof card.sales.results[0].SaleStatusId.Name, 'string');
    assert.deepEqual(
      card.messages.results.map((row: Json) => [row.channel, row.at]),
      [
        ['sms', '2025-06-01T00:00:00.000Z'],
        ['email', '2025-01-01T00:00:00.000Z'],
      ],
    );
  });

  test('Get-Customer-Card: the largest card keeps within the size of an answer', async () => {
    const long = 'א'.repeat(20_000);
    const texts = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`Text${n}`, long]));
    const big = await create('Accounts', { Name: 'big', ...texts });
    const of = { AccountId: pointer('Accounts', big) };
    for (let n = 0; n < 12; n++) {
      await create('Notes', { ...of, Comment: long });
      await create('SMS', { ...of, Content: long });
    }
    const card = await use('Get-Customer-Card', { objectId: big, limit: 50 });
    assert.ok(bytesOf(card) <= MAX_BYTES, String(bytesOf(card)));
    assert.deepEqual([card.details.Name, card.notes.more], ['big', true]);
  });

  test('Get-Customer-Card: some sections, so many of each', async () => {
    const of = { AccountId: pointer('Accounts', account) };
    for (const Comment of ['1', '2', '3']) await create('Notes', { ...of, Comment });
    const card = await use('Get-Customer-Card', { objectId: account, sections: ['notes'], limit: 2 });
    assert.deepEqual(Object.keys(card), ['objectId', 'notes']);
    assert.deepEqual(
      card.notes.results.map((row: Json) => row.Comment),
      ['3', '2'],
    );
    assert.equal(card.notes.more, true);
    await refused('Get-Customer-Card', { objectId: account, sections: ['all'] }, 107, /sections/);
    await refused('Get-Customer-Card', { objectId: 'zzzzzzzzzz', sections: ['notes'] }, 101, /^Object not found/);
    await refused('Get-Customer-Card', { objectId: account, limit: 51 }, 107, /at most 50/);
  });

  test('Get-Customer-Card: what the caller may not see is left out and reported', async () => {
    const user = await byUser(tools, ['Service'], ['mcp:view']);
    const clp = (await call('GET', '/platform/schemas/Emails')).body.classLevelPermissions;
    const sales = (await call('GET', '/platform/schemas/Sales')).body.classLevelPermissions;
    await permit(tools, 'Emails', { ...clp, find: {} });
    await permit(tools, 'Sales', { ...sales, find: {} });
    const card = await user.use('Get-Customer-Card', { objectId: account });
    assert.deepEqual([card.hidden, card.sales, card.missing], [['Sales', 'Emails'], undefined, undefined]);
    await permit(tools, 'Emails', clp);
    await permit(tools, 'Sales', sales);
    const none = await byUser(tools, []);
    await none.refused('Get-Customer-Card', { objectId: account }, 119, /^Permission denied for action get on class Accounts/);
    const secret = await create('Accounts', { Name: 'x', ACL: { '*': {} } });
    await user.refused('Get-Customer-Card', { objectId: secret }, 101, /^Object not found/);
  });
});
