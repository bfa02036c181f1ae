/** Agent tools Get-Triggers, Set-Trigger, Get-Trigger-Logs, Test-Trigger. Reference: tools.md#set-trigger. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { creates, mails, notifies, runsCode, updates } from '../../../automation/effects.ts';
import { type Json, path, pointer, type Store, unique, useStore } from '../../../support/records.ts';
import { sampledEngines } from '../../../support/service.ts';
import { byKey, byUser, openAdvanced } from '../callers.ts';

/** Polls until a read returns enough rows. */
async function eventually(read: () => Promise<Json[]>, count = 1): Promise<Json[]> {
  for (let waited = 0; waited < 10_000; waited += 50) {
    const rows = await read();
    if (rows.length >= count) return rows;
    await wait(50);
  }
  return assert.fail('it did not come to be');
}

const define = async (store: Store, definition: object): Promise<string> => store.create('_Trigger', definition);
const tableWith = (store: Store, fields: object = {}) =>
  store.table({
    Name: 'String',
    Note: 'String',
    Total: 'Number',
    AccountId: { type: 'Pointer', targetClass: 'Accounts' },
    ...fields,
  });

for (const engine of sampledEngines())
  describe(`tools of automation on ${engine}`, () => {
    const store = useStore(engine);
    const { use, refused } = byKey(store);

    test('definitions are shown as schema reads show them', async () => {
      const table = await tableWith(store);
      const actions = [updates('self', { Note: 'x' })];
      const first = await define(store, { Name: 'A', table, events: ['create'], criteria: { Total: { $gt: 5 } }, actions });
      const second = await define(store, { table, events: ['update'], changedFields: ['Name'], actions: [], Active: false });
      const { results } = await use('Get-Triggers', { className: table });
      const { triggers } = (await store.call('GET', `/platform/schemas/${table}`)).body;
      assert.deepEqual(results, triggers);
      assert.deepEqual(results.map(({ _id }: Json) => _id).sort(), [first, second].sort());
      const active = await use('Get-Triggers', { className: table, activeOnly: true });
      assert.deepEqual(
        active.results.map(({ _id }: Json) => _id),
        [first],
      );
      assert.ok((await use('Get-Triggers')).results.length >= 2);
      assert.deepEqual(await use('Get-Triggers', { className: 'Accounts' }), { results: [] });
      await refused('Get-Triggers', { className: unique('None') }, 103);
      await refused('Get-Triggers', { table }, 107, /table is unknown/);
    });

    test('definitions too long for an answer are shown with their texts cut', async () => {
      const table = await tableWith(store);
      for (const Name of ['A', 'B']) {
        const long = mails('a@b.test', { html: 'x'.repeat(40_000) });
        await define(store, { Name, table, events: ['create'], actions: [long] });
      }
      const { results, hint } = await use('Get-Triggers', { className: table });
      assert.equal(results.length, 2);
      assert.match(results[0].actions[0].actionData.html, /^x{1000}…$/);
      assert.match(hint, /cut/);
    });

    test('a trigger is made, changed in parts, and switched off and on', async () => {
      const table = await tableWith(store);
      const args = { className: table, name: 'N', event: 'create,update', actions: [updates('self', { Note: 'done' })] };
      const made = await use('Set-Trigger', { ...args, criteria: { Name: 'a' } });
      assert.match(made.triggerId, /^\w{10}$/);
      assert.equal(made.actionIds.length, 1);
      assert.equal(made.active, true);
      const row = await store.read('_Trigger', made.triggerId);
      assert.deepEqual([row.table, row.Name, row.events, row.criteria], [table, 'N', ['create', 'update'], { Name: 'a' }]);
      assert.deepEqual(row.createdBy, pointer('_User', 'master'));

      const { triggerId } = made;
      assert.equal((await use('Set-Trigger', { triggerId, active: false })).active, false);
      await store.create(table, { Name: 'a' });
      await use('Set-Trigger', { triggerId, active: true, criteria: { Name: 'b' } });
      const id = await store.create(table, { Name: 'b' });
      await eventually(async () => [await store.read(table, id)].filter(({ Note }) => Note === 'done'));
      assert.deepEqual((await store.all(table)).filter(({ Note }: Json) => Note === 'done').length, 1);
      const after = await store.read('_Trigger', triggerId);
      assert.deepEqual([after.events, after.actions, after.criteria], [row.events, row.actions, { Name: 'b' }]);
    });

    test('a schedule is written into the event', async () => {
      const table = await tableWith(store);
      const actions = [updates('self', { Note: 'x' })];
      const cases: [string, object][] = [
        ['schedule 0 8 * * 1-5 Asia/Jerusalem', { cron: '0 8 * * 1-5', timezone: 'Asia/Jerusalem' }],
        ['schedule 0 8 * * MON', { cron: '0 8 * * MON' }],
        ['schedule 30 0 8 1,15 * MON UTC', { cron: '30 0 8 1,15 * MON', timezone: 'UTC' }],
        ['schedule: */5 * * * *', { cron: '*/5 * * * *' }],
      ];
      for (const [event, schedule] of cases) {
        const { triggerId, nextRun } = await use('Set-Trigger', { className: table, event, actions, active: false });
        const row = await store.read('_Trigger', triggerId);
        assert.deepEqual([row.events, row.schedule, nextRun], [['schedule'], schedule, undefined], event);
      }
      const { triggerId, nextRun } = await use('Set-Trigger', { className: table, event: 'schedule 0 8 1 1 *', actions });
      assert.match(nextRun.iso, /-01-01T08:00:00.000Z$/);
      await use('Set-Trigger', { triggerId, event: 'delete' });
      const row = await store.read('_Trigger', triggerId);
      assert.deepEqual([row.events, row.schedule, row.nextRun], [['delete'], undefined, undefined]);
    });

    test('what a definition cannot be is refused, and nothing is written', async () => {
      const table = await tableWith(store);
      const args = { className: table, event: 'create', actions: [updates('self', { Note: 'x' })] };
      const before = (await store.all('_Trigger')).length;
      await refused('Set-Trigger', {}, 107, /needs className, event and actions/);
      await refused('Set-Trigger', { className: table, event: 'create' }, 107, /needs/);
      await refused('Set-Trigger', { ...args, event: 'read' }, 107, /event read/);
      await refused('Set-Trigger', { ...args, event: 'schedule' }, 107, /Invalid trigger: schedule is missing/);
      await refused('Set-Trigger', { ...args, event: 'schedule nonsense' }, 107, /Invalid trigger: schedule.cron/);
      await refused('Set-Trigger', { ...args, className: 'None_' }, 107, /Invalid trigger: table is not there/);
      await refused(
        'Set-Trigger',
        { ...args, actions: [{ type: 'x', actionData: {} }] },
        107,
        /Invalid trigger: actions\[0\]\.type is unknown/,
      );
      await refused('Set-Trigger', { ...args, criteria: { Name: { $bad: 1 } } }, 102);
      await refused('Set-Trigger', { triggerId: 'nobodynobo', active: false }, 101);
      await refused('Set-Trigger', { triggerId: 'short', active: false }, 107, /10 characters/);
      await refused('Set-Trigger', { triggerId: 'nobodynobo' }, 107, /nothing is to be changed/);
      assert.equal((await store.all('_Trigger')).length, before);
    });

    test('logs tell of runs and their errors, newest first', async () => {
      const table = await tableWith(store);
      const actions = [updates('AccountId', { Comment: 'x' }), updates('self', { Note: 'x' })];
      const triggerId = await define(store, { Name: 'Logged', table, events: ['create'], actions });
      const id = await store.create(table, { Name: 'a' });
      const rows = await eventually(async () => (await use('Get-Trigger-Logs', { triggerId })).results, 3);
      assert.deepEqual(
        rows.map(({ trigger, table: of, event, objectId }) => [trigger, of, event, objectId]),
        Array(3).fill(['Logged', table, 'create', id]),
      );
      assert.ok(rows.at(-1)?.actionId === null && rows[0].actionId !== null, 'it fired first');
      assert.ok(rows.every(({ at }, index) => index === 0 || at <= rows[index - 1].at));
      const errors = await use('Get-Trigger-Logs', { objectId: id, errorsOnly: true });
      assert.deepEqual(
        errors.results.map(({ error }: Json) => error),
        ['Bad pointer: AccountId is empty'],
      );
      const page = await use('Get-Trigger-Logs', { triggerId, limit: 2 });
      assert.equal(page.nextSkip, 2);
      const rest = await use('Get-Trigger-Logs', { triggerId, limit: 2, skip: 2 });
      assert.deepEqual([...page.results, ...rest.results], rows);
      const later = new Date(Date.now() + 60_000).toISOString();
      assert.deepEqual(await use('Get-Trigger-Logs', { triggerId, from: later }), { results: [], from: later });
      assert.equal((await use('Get-Trigger-Logs', { triggerId, to: later })).results.length, 3);
      await refused('Get-Trigger-Logs', { from: 'yesterday' }, 107, /ISO 8601/);
      await refused('Get-Trigger-Logs', { limit: 2_001 }, 107, /at most 2000/);
    });

    test('a test says what would be done, and does nothing', async () => {
      const table = await tableWith(store);
      const target = await store.table({ Title: 'String', Of: { type: 'Pointer', targetClass: table } });
      const account = await store.create('Accounts', { Name: 'Dana', Email: 'dana@example.test' });
      const actions = [
        creates(target, { Title: 'For {{AccountId.Name}}', Of: '{{objectId}}', Absent: '{{Note}}' }),
        updates('AccountId', { Comment: '{{Name}} {{Total}}' }),
        mails('{{AccountId.Email}}', { subject: 'S {{Name}}', html: '<p>{{Name}}</p>' }),
        notifies('master', 'Hi {{Name}}'),
        { ...runsCode('someFunction', true), Active: false },
      ];
      const events = ['create', 'update'];
      const definition = { Name: 'T', table, events, criteria: { Total: { $gt: 5 } }, changedFields: ['Name'], actions };
      const triggerId = await define(store, { ...definition, Active: false });
      const fields = { Name: 'a<b', Total: 7, AccountId: pointer('Accounts', account) };
      const id = await store.create(table, fields);
      await use('Set-Trigger', { triggerId, active: true });
      const before = await Promise.all(['_syslogTriggers', 'Emails', '_Notification', target].map(store.all));
      const seen = await use('Test-Trigger', { triggerId, objectId: id });
      assert.deepEqual([seen.wouldFire, seen.active, seen.meetsCriteria, seen.events], [true, true, true, events]);
      assert.deepEqual(seen.changedFields, ['Name']);
      assert.match(seen.notes.join(' '), /only the update itself can tell/);
      const does = seen.actions.map(({ does: one }: Json) => one);
      assert.deepEqual(does[0], { table: target, fields: { Title: 'For Dana', Of: pointer(table, id) } });
      assert.deepEqual(does[1], { table: 'Accounts', objectId: account, fields: { Comment: 'a<b 7' } });
      assert.deepEqual(does[2], { to: 'dana@example.test', subject: 'S a<b', html: '<p>a&lt;b</p>' });
      assert.deepEqual(does[3], { user: 'master', content: 'Hi a<b' });
      assert.deepEqual(does[4], { functionName: 'someFunction', useQueue: true, record: id });
      assert.equal(seen.actions[4].active, false);

      const other = await store.create(table, { Name: 'x', Total: 1 }, { headers: {} });
      const unmet = await use('Test-Trigger', { triggerId, objectId: other });
      assert.deepEqual([unmet.wouldFire, unmet.meetsCriteria], [false, false]);
      assert.match(unmet.actions[1].wouldFail, /AccountId is empty/);
      assert.match(unmet.actions[2].does.wouldFail, /nobody to send/);
      assert.deepEqual(await Promise.all(['_syslogTriggers', 'Emails', '_Notification', target].map(store.all)), before);
    });

    test('a test of what is not there, or does not fit any more', async () => {
      const table = await tableWith(store, { Gone: 'String' });
      const actions = [updates('AccountId', { Comment: 'x' })];
      const triggerId = await define(store, { table, events: ['update'], criteria: { Gone: 'x' }, actions });
      const id = await store.create(table, { Name: 'a' });
      await refused('Test-Trigger', { triggerId: 'nobodynobo', objectId: id }, 101);
      await refused('Test-Trigger', { triggerId, objectId: 'nobodynobo' }, 101);
      await store.call('PUT', `/platform/schemas/${table}`, { body: { fields: { Gone: { __op: 'Delete' } } } });
      const seen = await use('Test-Trigger', { triggerId, objectId: id });
      assert.deepEqual([seen.wouldFire, seen.meetsCriteria], [false, false]);
    });

    test('users: administrators with the switch, by the permissions of the tables', async (t) => {
      const table = await tableWith(store);
      const args = { className: table, event: 'create', actions: [updates('self', { Note: 'x' })] };
      const admin = await byUser(store, ['Admin']);
      await admin.refused('Set-Trigger', args, 119, /^Permission denied for action update on class _Trigger/);
      await openAdvanced(t, store);
      // The table was created by REST, so it has no permissions.
      await admin.refused('Set-Trigger', args, 119, new RegExp(`on class ${table}`));
      const open = { find: { '*': true }, get: { '*': true }, update: { '*': true }, create: { '*': true } };
      await store.call('PUT', `/platform/schemas/${table}`, { body: { classLevelPermissions: open } });
      const { triggerId } = await admin.use('Set-Trigger', args);
      assert.deepEqual((await store.read('_Trigger', triggerId)).createdBy, pointer('_User', admin.id));
      assert.equal((await admin.use('Get-Triggers', { className: table })).results.length, 1);
      const id = await store.create(table, { Name: 'a' });
      assert.equal((await admin.use('Test-Trigger', { triggerId, objectId: id })).wouldFire, true);
      await eventually(async () => (await admin.use('Get-Trigger-Logs', { triggerId })).results);

      const sales = await byUser(store, ['Sales']);
      await sales.refused('Get-Triggers', {}, 119, /^Permission denied for action find on class _Trigger/);
      await sales.refused('Get-Trigger-Logs', {}, 119, /_syslogTriggers/);
      await sales.refused('Test-Trigger', { triggerId, objectId: id }, 119);
      await sales.refused('Set-Trigger', { triggerId, active: false }, 119);
      assert.equal((await store.call('GET', path('_Trigger', triggerId))).body.Active, true);
    });
  });
