/** `_AdminLog`: acts of the command line, on keys and systems, and what moves records. Reference: audit.md#acts-on-keys-and-systems. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { path, unique } from '../support/records.ts';
import { engines } from '../support/service.ts';
import { afterCommand } from '../support/soon.ts';
import { command, serviceOf, succeed, useUnusedSystem } from '../systems/cli.ts';
import { backUp, credentialsIn, folderForTest } from '../transfer/backups.ts';
import { ended, send } from '../transfer/import/import-jobs.ts';
import { actsOf, NewActs, told } from './acts.ts';

for (const engine of engines)
  describe(`log of administrators, the operator's acts (${engine})`, () => {
    const store = useUnusedSystem(engine);
    let log: NewActs;
    let folder: string;

    before(async () => {
      log = new NewActs(store);
      folder = await folderForTest();
    });

    const run = (...args: string[]) => succeed(store.service(), ...args);
    const ofSystem = (...args: string[]) => run(...args, '--system', store.service().appId);
    /** Takes the rows of an operator's command, which the service sees at once or soon. */
    const takes = async (what: string, ...expected: unknown[]) => {
      const rows = await log.take();
      assert.deepEqual(rows.map(told), expected, what);
      for (const row of rows) assert.deepEqual([row.who, row.requestId], ['cli', undefined], what);
    };

    test('a new system says who made it', async () => {
      const { appId } = store.service();
      await takes('added', ['system', appId, null, { state: 'added', name: appId, keys: ['default'] }]);
    });

    test('keys: added and revoked, by their names', async () => {
      await ofSystem('key', 'add', '--name', 'erp');
      await takes('added', ['keys', 'erp', null, { name: 'erp' }]);
      assert.equal((await command(store.service(), 'key', 'add', '--system', store.service().appId, '--name', 'erp')).code, 1);
      await takes('refused');
      await ofSystem('key', 'revoke', '--name', 'erp');
      await takes('revoked', ['keys', 'erp', { name: 'erp' }, null]);
    });

    test('users: added with roles, blocked, given a password', async () => {
      const username = `${unique('u')}@example.com`;
      const output = await ofSystem('user', 'add', '--username', username, '--role', 'Admin');
      const id = /User id: (\S+)/.exec(output)?.[1] ?? '';
      // In one commit.
      const [role, added, ...others] = (await log.take()).sort((a, b) => (a.act < b.act ? -1 : 1));
      assert.deepEqual([added, role].map(told), [
        ['users', id, null, { username, email: username }],
        ['roles', 'Admin', {}, { users: { added: [id] } }],
      ]);
      assert.deepEqual([added.who, others], ['cli', []]);
      await ofSystem('user', 'set-password', username);
      await takes('password', ['users', id, {}, { passwordSet: true }]);
      await ofSystem('user', 'block', username, '--force');
      await takes('blocked', ['users', id, {}, { active: false }]);
      await ofSystem('user', 'unblock', username);
      await takes('unblocked', ['users', id, { active: false }, { active: true }]);
    });

    test('storage quota: set, set again, removed', async () => {
      const { appId } = store.service();
      await ofSystem('files', 'quota', '--bytes', '10MB');
      await takes('set', ['system', appId, {}, { quota: 10_000_000 }]);
      await ofSystem('files', 'quota', '--bytes', '10MB');
      await takes('the same', ...[]);
      await ofSystem('files', 'quota', '--none');
      await takes('removed', ['system', appId, { quota: 10_000_000 }, {}]);
    });

    test('schema apply: a row for each table; applied again it leaves none', async () => {
      const [table, role] = [unique('T'), unique('r')];
      const directory = join(folder, 'schema');
      await ofSystem('schema', 'export', '--to', directory, '--parts', 'tables,permissions,roles');
      await writeFile(join(directory, 'tables', `${table}.json`), JSON.stringify({ fields: { A: { type: 'String' } } }));
      await ofSystem('schema', 'apply', '--from', directory);
      const rows = (await log.take()).map(told);
      assert.deepEqual(rows[0], ['schema', table, null, { fields: { A: { type: 'String' } } }]);
      assert.ok(
        rows.every(([, subject]) => subject === table),
        JSON.stringify(rows),
      );
      await ofSystem('schema', 'apply', '--from', directory);
      await takes('nothing', ...[]);
      assert.equal((await store.call('GET', path('_Role'), { query: { where: { name: role } } })).body.results.length, 0);
    });

    test('exports and imports, by command and over HTTP', async () => {
      const table = await store.table({ Name: 'String' });
      await log.take();
      const file = join(folder, 'rows.csv');
      await writeFile(file, 'Name\nA\nB\n');
      await ofSystem('import', '--table', table, '--file', file, '--dry-run');
      await takes('a dry run');
      await ofSystem('import', '--table', table, '--file', file);
      await takes('import', ['import', table, null, { format: 'csv', rows: 2, matchOn: [] }]);
      await ofSystem('export', '--table', table, '--format', 'csv', '--keys', 'Name', '--to', join(folder, 'out.csv'));
      await takes('export', ['export', table, null, { format: 'csv', keys: ['Name'], isFiltered: false }]);
      const service = store.service();
      const { body } = await send(service, table, 'Name\nC\n', { apiKey: service.apiKey });
      await ended(service, body.job);
      const query = { format: 'ndjson', where: { Name: 'C' } };
      const headers = { 'X-Request-Id': 'request-of-export' };
      assert.equal((await store.call('GET', `/platform/export/${table}`, { query, headers })).status, 200);
      assert.equal((await store.call('GET', '/platform/export/Nowhere', { query })).status, 400);
      const rows = await log.take();
      assert.deepEqual(rows.map(told), [
        ['import', table, null, { job: body.job, matchOn: [] }],
        ['export', table, null, { format: 'ndjson', isFiltered: true }],
      ]);
      assert.deepEqual(
        rows.map(({ who }) => who),
        ['key:default', 'master'],
      );
      assert.equal(rows[1].requestId, 'request-of-export');
    });

    test('backup, restore and clone: rows in both systems; a clone has no log of its original', async () => {
      const service = store.service();
      const { appId } = service;
      const before = await actsOf(store);
      const file = await backUp(service, folder, appId, '--no-files');
      const [backup] = await log.take();
      assert.deepEqual([backup.act, backup.subject, backup.who, typeof backup.after.records], ['backup', appId, 'cli', 'number']);
      const cases = [
        ['clone', ['system', 'clone', appId, '--as', `${appId}-c`]],
        ['restore', ['restore', file, '--as', `${appId}-r`]],
      ] as const;
      for (const [act, args] of cases) {
        const made = serviceOf(service, credentialsIn(await run(...args)));
        await afterCommand(service, async () => assert.equal((await made.call('GET', '/platform/schemas/_User')).status, 200));
        const rows = await actsOf(made);
        const own = rows.filter((row) => !before.some(({ objectId }) => objectId === row.objectId));
        assert.deepEqual([own.length, own[0].act, own[0].subject, own[0].who], [1, act, made.appId, 'cli']);
        assert.deepEqual([own[0].after.from, rows.length - 1], [appId, act === 'clone' ? 0 : before.length]);
        const here = (await log.take()).map(({ act, subject }) => [act, subject]);
        assert.deepEqual(here, act === 'clone' ? [['clone', made.appId]] : []);
        await run('system', 'resume', made.appId);
        const [, resumed] = (await actsOf(made))
          .filter(({ who, act }) => who === 'cli' && ['clone', 'restore', 'system'].includes(act))
          .slice(-2);
        assert.deepEqual(told(resumed), ['system', made.appId, null, { state: 'resumed' }]);
        await run('system', 'remove', made.appId, '--now');
      }
    });

    test('a system that is removed, restored, forgotten and adopted has the whole story', async () => {
      const service = store.service();
      const { appId } = service;
      const served = async (status: number) =>
        afterCommand(service, async () => assert.equal((await store.call('GET', '/platform/schemas/_User')).status, status));
      await log.take();
      await run('system', 'remove', appId);
      await served(403);
      await run('system', 'restore', appId);
      await served(200);
      const rows = await log.take();
      assert.deepEqual(
        rows.map(({ act, subject, who, after }) => [act, subject, who, after.state]),
        [
          ['system', appId, 'cli', 'removed'],
          ['system', appId, 'cli', 'restored'],
        ],
      );
      await run('system', 'forget', appId);
      await served(403);
      const adopted = serviceOf(service, credentialsIn(await run('system', 'adopt', appId)));
      await afterCommand(service, async () => assert.equal((await adopted.call('GET', '/platform/schemas/_User')).status, 200));
      const states = (await actsOf(adopted))
        .filter(({ act, after }) => act === 'system' && 'state' in after)
        .map(({ after }) => after.state);
      assert.deepEqual(states, ['added', 'removed', 'restored', 'forgotten', 'adopted']);
    });
  });
