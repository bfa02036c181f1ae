/** Reference: tools.md#get-recent-changes, tools.md#get-request-log. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { type Json, useStore } from '../../../support/records.ts';
import { sampledEngines } from '../../../support/service.ts';
import { soon } from '../../../support/soon.ts';
import { byKey, byUser, openAdvanced } from '../callers.ts';

for (const engine of sampledEngines())
  describe(`Get-Recent-Changes and Get-Request-Log on ${engine}`, () => {
    const store = useStore(engine);
    const tools = byKey(store);
    const everybody = { requiresAuthentication: true };
    /** Creates a table whose timeline is on. */
    const watched = async (classLevelPermissions: object = {}): Promise<string> => {
      const table = await store.table({ Name: 'String', Secret: 'String' });
      const body = { classLevelPermissions, timeline: { displayFields: {}, index: {} } };
      const answer = await store.call('PUT', `/platform/schemas/${table}`, { body });
      assert.equal(answer.status, 200, answer.text);
      return table;
    };
    const since = '2026-01-01';

    test('what happened, newest first, deletions too', async () => {
      const table = await watched();
      const [a, b] = [await store.create(table, { Name: 'a' }), await store.create(table, { Name: 'b' })];
      // The update has a time of its own.
      await wait(2);
      await store.update(table, a, { Name: 'a2', Secret: 'x' });
      await store.remove(table, b);
      const { results } = await tools.use('Get-Recent-Changes', { since, tables: [table] });
      const user = { objectId: 'master' };
      assert.deepEqual(
        results.map(({ at, ...rest }: Json) => rest),
        [
          { event: 'delete', table, objectId: b, user },
          { event: 'update', table, objectId: a, Name: 'a2', user, fields: ['Name', 'Secret'] },
          { event: 'create', table, objectId: b, user, fields: ['Name'] },
          { event: 'create', table, objectId: a, Name: 'a2', user, fields: ['Name'] },
        ],
      );
      const events = async (more: object): Promise<string[]> =>
        (await tools.use('Get-Recent-Changes', { since, tables: [table], ...more })).results.map(({ event }: Json) => event);
      assert.deepEqual(await events({ event: 'delete' }), ['delete']);
      assert.deepEqual(await events({ userId: 'master', limit: 1, skip: 1 }), ['update']);
      assert.deepEqual(await events({ userId: 'nobodynone' }), []);
      assert.deepEqual(await events({ since: results[1].at }), ['delete', 'update']);
      assert.equal((await tools.use('Get-Recent-Changes', { since, tables: [table], limit: 3 })).nextSkip, 3);
      const all = await tools.use('Get-Recent-Changes', { since, limit: 4 });
      assert.deepEqual(all.results, results);
    });

    test('tables whose timeline is off are reported', async () => {
      const [tracked, quiet] = [await watched(), await store.table({ Name: 'String' })];
      await store.create(quiet, { Name: 'a' });
      const ask = (tables?: string[]) => tools.use('Get-Recent-Changes', { since, tables, limit: 1 });
      const reported = await ask([quiet, tracked]);
      assert.deepEqual([reported.results, reported.notTracked], [[], [quiet]]);
      assert.match(reported.hint, /timeline .* is off.*Set-Table-Timeline/);
      const fine = await ask([tracked]);
      assert.deepEqual([fine.notTracked, fine.hint, fine.since], [undefined, undefined, '2026-01-01T00:00:00.000Z']);
      assert.deepEqual((await ask(['_Timeline'])).notTracked, ['_Timeline']);
      const all = await ask();
      assert.deepEqual([all.notTracked, all.hint], [undefined, 'Only tables whose timeline is on are covered.']);
      // Changes of a table that the caller may not read are not reported.
      const { use } = await byUser(store, ['Sales'], ['mcp:view']);
      const reply = await use('Get-Recent-Changes', { since, tables: [quiet] });
      assert.deepEqual([reply.hidden, reply.notTracked, reply.hint], [[quiet], undefined, undefined]);
    });

    test('bad input', async () => {
      await tools.refused('Get-Recent-Changes', {}, 107, /since is required/);
      await tools.refused('Get-Recent-Changes', { since: 'yesterday' }, 107, /ISO 8601/);
      await tools.refused('Get-Recent-Changes', { since, tables: ['NoSuchTable'] }, 103, /NoSuchTable/);
      await tools.refused('Get-Recent-Changes', { since, event: 'read' }, 107, /create, update, delete/);
      await tools.refused('Get-Recent-Changes', { since, limit: 2001 }, 107, /2000/);
    });

    test('a signed-in user gets what the user may find', async () => {
      const open = await watched({ find: everybody, get: everybody, protectedFields: { '*': ['Secret'] } });
      const closed = await watched();
      const { use, id } = await byUser(store, ['Sales'], ['mcp:view']);
      const visible = await store.create(open, { Name: 'shown', Secret: 's' });
      const other = await store.create(open, { Name: 'other', ACL: { nobody: { read: true } } });
      await store.create(closed, { Name: 'closed' });
      const reply = await use('Get-Recent-Changes', { since, tables: [open, closed] });
      assert.deepEqual(reply.hidden, [closed]);
      assert.deepEqual(
        reply.results.map(({ objectId, fields }: Json) => [objectId, fields]),
        [[visible, ['Name']]],
      );
      const { results } = await use('Get-Recent-Changes', { since, limit: 100 });
      assert.ok(results.some(({ objectId }: Json) => objectId === visible));
      assert.ok(!results.some((row: Json) => row.table === closed || row.objectId === other));
      assert.equal((await use('Get-Recent-Changes', { since, userId: id })).results.length, 0);
      const nobody = await byUser(store, [], ['mcp:view']);
      await nobody.refused('Get-Recent-Changes', { since }, 119, /^Permission denied for action find on class _Timeline/);
    });

    test('the request log is for keys, whatever else somebody may', async (t) => {
      const table = await watched();
      await store.create(table, { Name: 'logged' });
      const log = async (more: object): Promise<Json[]> =>
        (await tools.use('Get-Request-Log', { path: `classes/${table}`, ...more })).results;
      await soon(async () => assert.equal((await log({})).length, 1));
      const [row] = await log({});
      const { method, path, statusCode, user, usingMK } = row as Json;
      assert.deepEqual([method, path, statusCode, user, usingMK], ['POST', `/platform/classes/${table}`, 201, 'master', true]);
      assert.equal((await log({ method: 'post', statusCode: 201, from: since })).length, 1);
      for (const none of [{ method: 'PUT' }, { statusCode: 400 }, { to: since }, { path: 'classes.' }])
        assert.deepEqual(await log(none), [], JSON.stringify(none));
      await tools.refused('Get-Request-Log', { statusCode: '200' }, 107);
      const { refused } = await byUser(store, ['Admin']);
      await refused('Get-Request-Log', {}, 119, /McpAdvancedTools/);
      await openAdvanced(t, store);
      await refused('Get-Request-Log', {}, 119, /^Permission denied for action find on class _RequestLog/);
    });
  });
