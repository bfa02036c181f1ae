/** Errors state the expected form and the tool to call next. Reference: agents.md#errors-for-agents. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { unique, useStore } from '../../support/records.ts';
import { sampledEngines } from '../../support/service.ts';
import { byKey, byUser } from './callers.ts';

const NONE = 'nothing000';

for (const engine of sampledEngines())
  describe(`errors of tools on ${engine}`, () => {
    const store = useStore(engine);
    const { call } = byKey(store);
    const error = async (name: string, args: object) => {
      const answer = await call(name, args);
      assert.ok(answer.isError, `${name}: ${answer.text}`);
      return answer.json;
    };

    test('what comes next is the tool that lists such ids', async () => {
      const cases: [tool: string, args: object, next: string][] = [
        ['Set-Trigger', { triggerId: NONE, active: false }, 'Get-Triggers'],
        ['Test-Trigger', { triggerId: NONE, objectId: NONE }, 'Get-Triggers'],
        ['Run-Report', { reportId: NONE }, 'Get-Reports'],
        ['Save-Report', { reportId: NONE, name: 'x', table: 'Accounts' }, 'Get-Reports'],
        ['Set-User-Roles', { userId: NONE, roles: [] }, 'Get-all-Users'],
        ['Set-User-MCP-Permissions', { userId: NONE, permissions: [] }, 'Get-all-Users'],
        ['Create-or-Update-User', { objectId: NONE, name: 'x' }, 'Get-all-Users'],
        ['Get-Campaign-Stats', { campaignId: NONE }, 'Get-Data on Campaigns'],
        ['Complete-Task', { objectId: NONE }, 'Get-Tasks'],
        ['Get-Customer-Card', { objectId: NONE }, 'Search-Records'],
        ['Convert-Lead', { objectId: NONE }, 'Search-Records'],
        ['Get-Record', { table: 'Accounts', objectId: NONE }, 'Get-Data'],
        ['Update-Record', { table: 'Accounts', objectId: NONE, data: { Name: 'x' } }, 'Get-Data'],
      ];
      for (const [tool, args, next] of cases) {
        const { code, next: reported, expected } = await error(tool, args);
        assert.deepEqual([code, reported], [101, next], tool);
        assert.match(expected, /does not exist, or you may not see it/, tool);
      }
    });

    test('the forms of a definition', async () => {
      const set = (part: object) =>
        error('Set-Trigger', { className: 'Accounts', name: 'x', event: 'create', actions: [], ...part });
      const action = await set({ actions: [{ type: 'sms', actionData: {} }] });
      assert.equal(action.next, 'Get-Triggers');
      for (const form of [
        'create-object {table',
        'update-object {target',
        'e-mail {to',
        'notification {user',
        'server-side-code {functionName',
      ])
        assert.ok(action.expected.includes(form), form);
      const cron = await set({ event: 'schedule nonsense' });
      assert.match(cron.expected, /5 fields/);
      assert.equal(cron.next, 'Get-Triggers');
    });

    test('what helps', async () => {
      const file = { __type: 'File', name: `${'0'.repeat(32)}_a.txt`, url: 'https://example.com/a.txt' };
      const table = await store.table({ Name: 'String', f: 'File', when: 'Date', n: 'Number' });
      const unknown = await error('Create-Record', { table, data: { f: file } });
      assert.deepEqual([unknown.code, unknown.next], [1, 'Upload-Public-File']);
      assert.match(unknown.expected, /^The file was never uploaded/);
      assert.doesNotMatch(unknown.error, /^unknownFile/);
      const id = await store.create(table, { Name: 'x' });
      const late = await error('Update-Record', { table, objectId: id, data: { n: 1 }, ifUpdatedAt: '2020-01-01T00:00:00Z' });
      assert.deepEqual([late.code, late.next], [409, 'Get-Record']);
      const date = await error('Create-Record', { table, data: { when: { __type: 'Date', iso: 'soon' } } });
      assert.match(date.expected, /"__type":"Date","iso":"2026-/);
      const user = { username: unique('u'), password: 'Secret123', email: `${unique('e')}@example.com` };
      assert.match((await error('Create-or-Update-User', { password: 'Secret123' })).expected, /username/);
      assert.match((await error('Create-or-Update-User', { username: unique('u') })).expected, /password/);
      assert.ok(!(await call('Create-or-Update-User', user)).isError);
      for (const other of [{ username: unique('u') }, { email: `${unique('e')}@example.com` }])
        assert.equal((await error('Create-or-Update-User', { ...user, ...other })).next, 'Get-all-Users');
      const row = await error('Create-Record', { table: '_User', data: { ...user, email: `${unique('e')}@example.com` } });
      assert.deepEqual([row.code, row.next], [202, 'Get-all-Users']);
    });

    test('a field that the caller may not add', async () => {
      const table = await store.table({ Name: 'String' });
      const open = { '*': true };
      const permissions = { find: open, get: open, create: open, update: open };
      await store.call('PUT', `/platform/schemas/${table}`, { body: { classLevelPermissions: permissions } });
      const user = await byUser(store, ['Sales']);
      const answer = await user.call('Create-Record', { table, data: { Nmae: 'x' } });
      assert.match(
        answer.text,
        /^Permission denied for action addField on class \S+ \(code 119\)\. .*not in the schema.* Next: Get-Schema\.$/,
      );
    });

    test('arguments are refused in words of our own', async () => {
      const words = async (name: string, args: object) => (await error(name, args)).error;
      assert.match(await words('Get-Data', { table: 'Accounts', limit: '10' }), /limit must be a whole number$/);
      assert.match(await words('Get-Data', { table: 'x'.repeat(200) }), /table must be at most 128 characters$/);
      const account = await store.create('Accounts', { Name: 'Dana' });
      const quote = (row: object) => words('Create-Price-Quote', { accountId: account, rows: [row] });
      assert.match(await quote({ description: 'x', price: 1, quantity: 0 }), /rows\[0\].*quantity must be over 0/);
      assert.match(await quote({ description: 'x', price: -1 }), /price must be at least 0/);
      assert.match(await quote({ description: 'x', price: 1, discount: 200 }), /discount must be at most 100/);
    });

    test('rows of an import that name no record: Get-Lookup-Values comes next', async () => {
      const { json } = await call('Import-Records', { table: 'Accounts', rows: [{ Name: 'x', StatusId: 'No such status' }] });
      assert.equal(json.results[0].error.next, 'Get-Lookup-Values');
    });
  });
