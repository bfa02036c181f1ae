/** Reference: tools.md#create-task, tools.md#complete-task, tools.md#get-tasks. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { date, type Json, pointer } from '../../../support/records.ts';
import { signUp } from '../../../support/users.ts';
import { byUser } from '../callers.ts';
import { onEachEngine } from '../engines.ts';
import { replaceField } from '../restored.ts';
import { lookupId, permit } from '../tables.ts';

const NO_ID = 'zzzzzzzzzz';
const DAY = 86_400_000;

onEachEngine('tasks', (tools) => {
  const { use, refused, create, read, all, call, remove, update } = tools;
  let account = '';
  let open = '';
  let done = '';

  before(async () => {
    account = await create('Accounts', { Name: 'Big' });
    open = await lookupId(tools, 'TaskStatuses', { IsClosed: false });
    done = await lookupId(tools, 'TaskStatuses', { IsClosed: true });
  });

  test('Create-Task: with everything', async () => {
    const owner = await signUp(tools);
    const made = await use('Create-Task', {
      name: 'Call',
      date: '2026-02-01T10:00:00+02:00',
      accountId: account,
      ownerId: owner.id,
      statusId: done,
      description: '<p>x</p>',
    });
    const stored = await read('Tasks', made.objectId);
    assert.deepEqual([stored.Name, stored.Description], ['Call', '<p>x</p>']);
    assert.deepEqual(stored.Date, date('2026-02-01T08:00:00.000Z'));
    assert.deepEqual(stored.AccountId, pointer('Accounts', account));
    assert.deepEqual(stored.OwnerId, pointer('_User', owner.id));
    assert.deepEqual(stored.StatusId, pointer('TaskStatuses', done));
    assert.deepEqual(made.AccountId, stored.AccountId);
  });

  test('Create-Task: by default in the first open status; linked to any record that tasks point at', async () => {
    const sale = await create('Sales', { Name: 's', AccountId: pointer('Accounts', account) });
    for (const relatedTo of [{ table: 'Sales', objectId: sale }, pointer('Sales', sale)]) {
      const { objectId } = await use('Create-Task', { name: 'x', relatedTo });
      const stored = await read('Tasks', objectId);
      assert.deepEqual([stored.SaleId, stored.AccountId], [pointer('Sales', sale), pointer('Accounts', account)]);
      assert.deepEqual([stored.StatusId, stored.OwnerId], [pointer('TaskStatuses', open), undefined]);
    }
  });

  test('Create-Task: wrong arguments leave nothing', async () => {
    const count = (await all('Tasks')).length;
    const product = await create('Products', { Name: 'p' });
    await refused('Create-Task', {}, 107, /name is required/);
    await refused('Create-Task', { name: '' }, 107, /name/);
    await refused('Create-Task', { name: 'x', date: '01/02/2026' }, 107, /ISO 8601/);
    await refused('Create-Task', { name: 'x', accountId: NO_ID }, 101, /^Object not found/);
    await refused('Create-Task', { name: 'x', ownerId: NO_ID }, 107, /no such user/);
    await refused('Create-Task', { name: 'x', statusId: account }, 107, /TaskStatuses has no such record/);
    await refused(
      'Create-Task',
      { name: 'x', relatedTo: { table: 'Products', objectId: product } },
      107,
      /cannot be linked to Products/,
    );
    for (const table of ['_User', 'TaskStatuses', 'TaskTypes', 'Tags']) {
      const relatedTo = { table, objectId: 'x' };
      const { expected } = await refused('Create-Task', { name: 'x', relatedTo }, 107, /cannot be linked to/);
      assert.equal(expected, 'A record of Accounts, Contacts, Sales, Cases');
    }
    await refused('Create-Task', { name: 'x', relatedTo: { table: 'Sales' } }, 107, /relatedTo must name a record/);
    assert.equal((await all('Tasks')).length, count);
  });

  test('Complete-Task: the done status, the time, and a note in the same commit', async () => {
    const id = await create('Tasks', {
      Name: 'x',
      AccountId: pointer('Accounts', account),
      StatusId: pointer('TaskStatuses', open),
    });
    const start = Date.now();
    const reported = await use('Complete-Task', { objectId: id, comment: 'They agreed' });
    const stored = await read('Tasks', id);
    assert.deepEqual([stored.StatusId, reported.status.objectId], [pointer('TaskStatuses', done), done]);
    assert.ok(Math.abs(Date.parse(stored.CompletedAt.iso) - start) < 60_000);
    const note = await read('Notes', reported.noteId);
    assert.deepEqual([note.TaskId, note.AccountId], [pointer('Tasks', id), pointer('Accounts', account)]);
    assert.deepEqual([note.Comment, note.createdAt], ['They agreed', stored.updatedAt]);
    const again = await use('Complete-Task', { objectId: id });
    assert.deepEqual([again.alreadyDone, again.noteId], [true, undefined]);
    assert.deepEqual(await read('Tasks', id), stored);
  });

  test('Complete-Task: wrong arguments; statuses of which none or several are done', async () => {
    const id = await create('Tasks', { Name: 'x' });
    await refused('Complete-Task', { objectId: NO_ID }, 101, /^Object not found/);
    await refused('Complete-Task', {}, 107, /objectId is required/);
    const second = await create('TaskStatuses', { Name: 'Archived', IsClosed: true });
    await refused('Complete-Task', { objectId: id }, 107, /several statuses of TaskStatuses are done: .*Archived/);
    await update('TaskStatuses', second, { SystemKey: 'done' });
    assert.equal((await use('Complete-Task', { objectId: id })).status.objectId, second);
    await remove('Tasks', id);
    await remove('TaskStatuses', second);
    await update('TaskStatuses', done, { IsClosed: false });
    const other = await create('Tasks', { Name: 'x' });
    await refused('Complete-Task', { objectId: other }, 107, /no status of TaskStatuses is known to be done/);
    await update('TaskStatuses', done, { IsClosed: true });
  });

  test('Get-Tasks: by owner, account and due day; open ones alone', async () => {
    const owner = await signUp(tools, { name: 'Tal' });
    const of = { OwnerId: pointer('_User', owner.id) };
    const at = (days: number) => ({ Date: date(new Date(Date.now() + days * DAY).toISOString()) });
    const midnight = new Date().toISOString().slice(0, 10);
    const tasks: Record<string, string> = {};
    tasks.late = await create('Tasks', { ...of, Name: 'late', ...at(-2) });
    tasks.today = await create('Tasks', { ...of, Name: 'today', Date: date(`${midnight}T00:00:00.000Z`) });
    tasks.soon = await create('Tasks', { ...of, Name: 'soon', AccountId: pointer('Accounts', account), ...at(3) });
    tasks.later = await create('Tasks', { ...of, Name: 'later', ...at(20) });
    tasks.done = await create('Tasks', { ...of, Name: 'done', StatusId: pointer('TaskStatuses', done), ...at(-3) });
    const names = async (args: object): Promise<string[]> =>
      (await use('Get-Tasks', { ownerId: owner.id, ...args })).results.map((row: Json) => row.Name);
    assert.deepEqual(await names({}), ['late', 'today', 'soon', 'later']);
    assert.deepEqual(await names({ due: 'overdue' }), ['late']);
    assert.deepEqual(await names({ due: 'today' }), ['today']);
    assert.deepEqual(await names({ due: 'week' }), ['today', 'soon']);
    assert.deepEqual(await names({ includeDone: true, due: 'overdue' }), ['done', 'late']);
    assert.deepEqual(await names({ accountId: account }), ['soon']);
    const page = await use('Get-Tasks', { ownerId: owner.id, limit: 2, skip: 1 });
    assert.deepEqual([page.results.length, page.nextSkip, page.timeZone], [2, 3, 'UTC']);
    assert.deepEqual([page.results[0].objectId, page.results[0].OwnerId.Name], [tasks.today, 'Tal']);
    await refused('Get-Tasks', { due: 'month' }, 107, /overdue, today, week, all/);
    await refused('Get-Tasks', { limit: 2_001 }, 107, /at most 2000/);
  });

  test('Get-Tasks has those without a date last, page after page', async () => {
    const owner = await signUp(tools);
    const of = { OwnerId: pointer('_User', owner.id) };
    const day = (n: number) => ({ Date: date(`2026-02-0${n}T00:00:00.000Z`) });
    for (const [Name, more] of Object.entries({ u1: {}, d2: day(2), u2: { Date: null }, d1: day(1), d3: day(3), u3: {} }))
      await create('Tasks', { ...of, Name, ...more });
    const expected = ['d1', 'd2', 'd3', 'u1', 'u2', 'u3'];
    for (const limit of [1, 2, 3, 4, 5, 6, 20]) {
      const names: string[] = [];
      for (let skip: number | undefined = 0; skip !== undefined; ) {
        const page: Json = await use('Get-Tasks', { ownerId: owner.id, limit, skip });
        names.push(...page.results.map(({ Name }: Json) => Name));
        skip = page.nextSkip;
      }
      assert.deepEqual(names, expected, `${limit} a page`);
    }
    assert.deepEqual((await use('Get-Tasks', { ownerId: owner.id, skip: 100 })).results, []);
    assert.deepEqual((await use('Get-Tasks', { ownerId: owner.id, limit: 0 })).results, []);
  });

  test('a user has own tasks, and is held to the roles', async () => {
    const user = await byUser(tools, ['Service']);
    const { objectId } = await user.use('Create-Task', { name: 'mine' });
    const stored = await read('Tasks', objectId);
    assert.deepEqual([stored.OwnerId, stored.createdBy], [pointer('_User', user.id), pointer('_User', user.id)]);
    assert.deepEqual(
      (await user.use('Get-Tasks', { ownerId: user.id })).results.map((row: Json) => row.objectId),
      [objectId],
    );
    const reader = await byUser(tools, ['ReadOnly']);
    await reader.refused('Create-Task', { name: 'x' }, 119, /^Permission denied for action create on class Tasks/);
    await reader.refused('Complete-Task', { objectId }, 119, /^Permission denied for action update on class Tasks/);
    const updater = await byUser(tools, ['Service'], ['mcp:view', 'mcp:update']);
    await updater.refused(
      'Complete-Task',
      { objectId, comment: 'x' },
      119,
      /^Permission denied for action create on class Notes/,
    );
    assert.equal((await read('Tasks', objectId)).CompletedAt, undefined);
    await updater.use('Complete-Task', { objectId });
    assert.deepEqual((await read('Tasks', objectId)).updatedBy, pointer('_User', updater.id));
    const notes = (await call('GET', '/platform/schemas/Notes')).body.classLevelPermissions;
    await permit(tools, 'Notes', { ...notes, create: {} });
    const other = await user.use('Create-Task', { name: 'other' });
    await user.refused('Complete-Task', { objectId: other.objectId, comment: 'x' }, 119, /create on class Notes/);
    assert.equal((await read('Tasks', other.objectId)).CompletedAt, undefined);
    await permit(tools, 'Notes', notes);
    const nobody = await byUser(tools, []);
    await nobody.refused('Get-Tasks', {}, 119, /^Permission denied for action find on class Tasks/);
    const statuses = (await call('GET', '/platform/schemas/TaskStatuses')).body.classLevelPermissions;
    await permit(tools, 'TaskStatuses', { ...statuses, find: {} });
    assert.deepEqual((await user.use('Get-Tasks')).hidden, ['TaskStatuses']);
    await user.refused('Complete-Task', { objectId: other.objectId }, 119, /find on class TaskStatuses/);
    await permit(tools, 'TaskStatuses', statuses);
  });

  test('where the date of tasks is no Date, due is refused in words that say so', async (t) => {
    const id = await create('Tasks', { Name: 'x' });
    await replaceField(t, tools, 'Tasks', 'Date');
    await refused('Get-Tasks', { due: 'today' }, 107, /Tasks has no field Date of type Date in this system/);
    const ids = async () => (await use('Get-Tasks', { limit: 1_000 })).results.map(({ objectId }: Json) => objectId);
    assert.ok((await ids()).includes(id));
    const body = { fields: { Date: { type: 'String' } } };
    assert.equal((await call('PUT', '/platform/schemas/Tasks', { body })).status, 200);
    await update('Tasks', id, { Date: '2026-01-01' });
    for (const due of ['overdue', 'today', 'week'])
      await refused('Get-Tasks', { due }, 107, /Tasks has no field Date of type Date in this system/);
    assert.equal((await ids())[0], id);
  });
});
