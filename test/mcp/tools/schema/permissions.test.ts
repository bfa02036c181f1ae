/** Reference: tools.md#set-table-permissions. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Json, useStore } from '../../../support/records.ts';
import { sampledEngines } from '../../../support/service.ts';
import { relate, signUp } from '../../../support/users.ts';
import { byKey } from '../callers.ts';

for (const engine of sampledEngines())
  describe(`Set-Table-Permissions on ${engine}`, () => {
    const store = useStore(engine);
    const { use, refused } = byKey(store);
    const set = (className: string, permissions: object, more: object = {}): Promise<Json> =>
      use('Set-Table-Permissions', { className, permissions, ...more });
    const permissionsOf = async (table: string): Promise<Json> =>
      (await store.call('GET', `/platform/schemas/${table}`)).body.classLevelPermissions;

    test('actions that are sent are set, the others stay; names of roles come in both forms', async () => {
      const table = await store.table({ Name: 'String', Secret: 'String' });
      const rules = { find: { '*': true }, delete: { 'role:Admin': true }, protectedFields: { '*': ['Secret'] } };
      await store.call('PUT', `/platform/schemas/${table}`, { body: { classLevelPermissions: rules } });
      const user = await signUp(store);
      const answer = await set(table, {
        find: ['Admin', 'role:Sales', 'requiresAuthentication'],
        get: { 'role:Admin': true, 'role:Sales': false },
        update: [user.id],
      });
      const after = await permissionsOf(table);
      assert.deepEqual(after.find, { 'role:Admin': true, 'role:Sales': true, requiresAuthentication: true });
      assert.deepEqual([after.get, after.update], [{ 'role:Admin': true }, { [user.id]: true }]);
      assert.deepEqual([after.delete, after.create], [{ 'role:Admin': true }, {}]);
      assert.deepEqual(after.protectedFields, { '*': ['Secret'] });
      assert.deepEqual(answer.before, { find: { '*': true }, get: {}, update: {} });
      assert.deepEqual(answer.after, { find: after.find, get: after.get, update: after.update });
      assert.deepEqual(answer.taken, { find: ['*'] });
      assert.deepEqual(answer.given.get, ['role:Admin']);
    });

    test('what was set counts at once', async () => {
      const table = await store.table({ Name: 'String' });
      const id = await store.create(table, { Name: 'a' });
      const user = await signUp(store);
      const { results } = (await store.call('GET', '/platform/roles', { query: { where: { name: 'Sales' } } })).body;
      await store.call('PUT', `/platform/roles/${results[0].objectId}`, {
        body: { users: relate('AddRelation', '_User', [user.id]) },
      });
      assert.equal((await store.get(table, id, { session: user.token })).body.code, 119);
      await set(table, { get: ['Sales'] });
      assert.equal((await store.get(table, id, { session: user.token })).status, 200);
      await set(table, { get: [] });
      assert.equal((await store.get(table, id, { session: user.token })).body.code, 119);
    });

    test('a dry run reports the same and changes nothing', async () => {
      const table = await store.table({ Name: 'String' });
      await set(table, { find: ['Admin'] });
      const before = await permissionsOf(table);
      const answer = await set(table, { find: ['Sales'] }, { dryRun: true });
      assert.deepEqual([answer.dryRun, answer.given, answer.taken], [true, { find: ['role:Sales'] }, { find: ['role:Admin'] }]);
      assert.match(answer.warnings[0], /Members of Admin lose find/);
      assert.deepEqual(await permissionsOf(table), before);
    });

    test('it is reported that nobody, or no Admin, may do something any more', async () => {
      const table = await store.table({});
      await set(table, { find: ['Admin'], get: ['Admin'], update: ['Admin'] });
      const { warnings } = await set(table, { find: [], update: ['Sales'] });
      assert.deepEqual(warnings, [`Members of Admin lose find, update on ${table}`, `Nobody but keys may find on ${table}`]);
    });

    test('permissions that have no effect are reported', async () => {
      const cases: [string, object, string[]][] = [
        ['_RequestLog', { find: ['Admin'], delete: ['Admin'] }, ['permissions of find, delete have no effect']],
        [
          '_User',
          { find: ['Admin'], update: ['Admin'], delete: ['Admin'] },
          ['permissions of delete have no effect', 'permissions of update count for agents of administrators alone'],
        ],
        ['_Session', { get: ['Sales'] }, ['permissions of get have no effect']],
        ['_syslogTriggers', { find: ['Admin'], delete: ['Admin'] }, ['permissions of delete have no effect']],
        ['Accounts', { find: ['Admin'], delete: ['Admin'] }, []],
      ];
      for (const [className, permissions, reported] of cases) {
        const { warnings = [] } = await set(className, permissions, { dryRun: true });
        assert.equal(warnings.length, reported.length, `${className}: ${warnings}`);
        for (const [at, text] of reported.entries())
          assert.ok(warnings[at].startsWith(`On ${className} the ${text}`), warnings[at]);
      }
    });

    test('what cannot be is refused and changes nothing', async () => {
      const table = await store.table({ Name: 'String' });
      await set(table, { find: ['Admin'] });
      const before = await permissionsOf(table);
      const cases: [object, number, RegExp][] = [
        [{ className: table, permissions: { find: ['Nobody'] } }, 107, /find: Nobody is no role and no user.*Roles: Admin, /],
        [{ className: table, permissions: { find: ['role:Nobody'] } }, 107, /no role/],
        [{ className: table, permissions: { find: ['Admin'], read: ['Admin'] } }, 107, /read is not one of find, get/],
        [{ className: table, permissions: { protectedFields: {} } }, 107, /protectedFields is not one of/],
        [{ className: table, permissions: { find: 'Admin' } }, 107, /must be a list of roles or a map/],
        [{ className: table, permissions: { find: [1] } }, 107, /must have texts/],
        [{ className: table, permissions: { find: { 'role:Admin': 'yes' } } }, 107, /must be true or false/],
        [{ className: table, permissions: { find: { pointerFields: ['Name'] } } }, 107, /Name is not a Pointer to _User/],
        [{ className: table, permissions: { find: { pointerFields: ['Name'] } }, dryRun: true }, 107, /not a Pointer to _User/],
        [{ className: table, permissions: {} }, 107, /must not be empty/],
        [{ className: table, permissions: { find: Array.from({ length: 501 }, () => 'Admin') } }, 107, /at most 500/],
        [{ className: table, permissions: { __proto__: ['Admin'], constructor: ['Admin'] } }, 107, /constructor is not one of/],
        [{ className: 'Nowhere', permissions: { find: ['Admin'] } }, 103, /does not exist/],
        [{ className: '_StoredFile', permissions: { find: ['Admin'] } }, 103, /does not exist/],
      ];
      for (const [args, code, text] of cases) await refused('Set-Table-Permissions', args, code, text);
      assert.deepEqual(await permissionsOf(table), before);
    });
  });
