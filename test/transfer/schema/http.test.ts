/** Schema as code over HTTP: snapshot, diff, apply. Reference: schema-as-code.md#over-http. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { newCaller } from '../../support/permissions.ts';
import { assertError, defineTable, find, onEachEngine, pointer, tableName } from '../../support/query.ts';
import type { Answer, Service } from '../../support/service.ts';
import { exported, filesIn, fillSchema, type Json, newSystem } from './schemas.ts';

const snapshotOf = async (system: Service): Promise<Json> => {
  const answer = await system.call('GET', '/platform/schema/snapshot');
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
};

const send = (system: Service, what: 'diff' | 'apply', body: unknown): Promise<Answer> =>
  system.call('POST', `/platform/schema/${what}`, { body });

const textsOf = ({ body }: Answer): string[] => body.changes.map(({ sign, text }: Json) => `${sign} ${text}`);

onEachEngine((get) => {
  let source: Service;
  let target: Service;
  let snapshot: Json;
  before(async () => {
    source = await newSystem(get());
    await fillSchema(source);
    target = await newSystem(get());
    snapshot = await snapshotOf(source);
  });

  test('Snapshot: one object with the parts that the directory has', async () => {
    const files = await filesIn(await exported(source));
    const { tables, format, complete, ...others } = snapshot;
    assert.deepEqual([format, complete], [1, true]);
    for (const [name, part] of Object.entries(others)) assert.deepEqual(part, JSON.parse(files[`${name}.json`] as string), name);
    for (const [name, table] of Object.entries(tables))
      assert.deepEqual(table, JSON.parse(files[`tables/${name}.json`] as string), name);
    const roles = await source.call('GET', '/platform/schema/snapshot', { query: { parts: 'roles' } });
    assert.deepEqual(Object.keys(roles.body), ['format', 'complete', 'roles']);
    assertError(await source.call('GET', '/platform/schema/snapshot', { query: { part: 'roles' } }), 400, 102);
  });

  test('Snapshot, diff and apply need the master key: API keys, sessions and anonymous requests are 403', async () => {
    const caller = await newCaller(source);
    const [admin] = await find(source, '_Role', { where: { name: 'Admin' } });
    const users = { __op: 'AddRelation', objects: [pointer('_User', caller.id)] };
    assert.equal((await source.call('PUT', `/platform/roles/${admin?.objectId}`, { body: { users } })).status, 200);
    for (const options of [{ as: 'apiKey' } as const, caller.options, { as: 'anonymous' } as const])
      for (const [method, path] of [
        ['GET', 'snapshot'],
        ['POST', 'diff'],
        ['POST', 'apply'],
      ] as const) {
        const body = method === 'POST' ? { body: snapshot } : {};
        const answer = await source.call(method, `/platform/schema/${path}`, { ...options, ...body });
        assert.deepEqual([answer.status, answer.body], [403, { error: 'unauthorized: master key is required' }]);
      }
  });

  test('Diff: the bare snapshot, under data and under snapshot are the same', async () => {
    const bare = await send(target, 'diff', snapshot);
    assert.equal(bare.status, 200, bare.text);
    assert.ok(textsOf(bare).includes('+ Accounts.Score Number'));
    for (const body of [{ data: snapshot }, { snapshot }, { snapshot: { data: snapshot } }])
      assert.deepEqual((await send(target, 'diff', body)).body, bare.body);
    assert.match(bare.body.hash, /^[\w-]{43}$/);
  });

  test('Apply: with the hash of the diff everything is done, and then there is no difference', async () => {
    const { body } = await send(target, 'diff', snapshot);
    const done = await send(target, 'apply', { hash: body.hash, snapshot });
    assert.equal(done.status, 200, done.text);
    assert.deepEqual(done.body.changes, body.changes);
    const after = await send(target, 'diff', snapshot);
    assert.deepEqual(after.body.changes, []);
    assert.deepEqual((await send(target, 'apply', { hash: after.body.hash, snapshot })).body.changes, []);
    assert.deepEqual(await snapshotOf(target), snapshot);
  });

  const changes: [what: string, change: (system: Service) => Promise<unknown>][] = [
    ['a table', (system) => defineTable(system, tableName('T'), { a: 'String' })],
    ['a field', (system) => system.call('PUT', '/platform/schemas/Accounts', { body: { fields: { F: { type: 'Date' } } } })],
    [
      'permissions',
      (system) => system.call('PUT', '/platform/schemas/Accounts', { body: { classLevelPermissions: { find: { '*': true } } } }),
    ],
    ['a role', (system) => system.call('POST', '/platform/roles', { body: { name: tableName('R') } })],
    [
      'a label',
      (system) => system.call('POST', '/platform/classes/_Dictionary', { body: { tblName: 'X', field: 'y', value: 'z' } }),
    ],
    [
      'a flag',
      (system) =>
        system.call('POST', '/platform/classes/Config', {
          body: { Name: 'AcceptWebToTable', Value: { AcceptWebToTable: true } },
        }),
    ],
  ];
  for (const [what, change] of changes)
    test(`Apply: after a change of ${what} since the diff it is 409, and nothing is done`, async () => {
      const system = await newSystem(get());
      const wanted = await snapshotOf(system);
      wanted.tables.Sales.fields.Score = { type: 'Number' };
      const { body } = await send(system, 'diff', wanted);
      await change(system);
      const late = await send(system, 'apply', { hash: body.hash, snapshot: wanted, allowDestructive: true });
      assert.deepEqual([late.status, late.body], [409, { code: 409, error: 'the schema has changed since the diff' }]);
      assert.ok(!(await snapshotOf(system)).tables.Sales.fields.Score);
    });

  test('Apply: without the hash of a diff it is 400 code 107', async () => {
    assertError(await send(target, 'apply', { snapshot }), 400, 107, 'Invalid snapshot: hash is missing: it is that of the diff');
    assertError(await send(target, 'apply', { snapshot, hash: 5 }), 400, 107);
  });

  test('Apply: destructive changes are refused unless they are allowed', async () => {
    const system = await newSystem(get());
    const wanted = await snapshotOf(system);
    delete wanted.tables.Tags;
    delete wanted.tables.Accounts.fields.City;
    const { body } = await send(system, 'diff', wanted);
    const records = (await find(system, 'Tags')).length;
    assert.deepEqual(
      body.changes.map(({ sign, destructive, table, name, records }: Json) => ({ sign, destructive, table, name, records })),
      [
        { sign: '!', destructive: true, table: 'Accounts', name: 'City', records: 0 },
        { sign: '!', destructive: true, table: 'Tags', name: undefined, records },
      ],
    );
    const { hash } = body;
    assertError(await send(system, 'apply', { hash, snapshot: wanted }), 400, 255, /^nothing was done: 2 destructive changes/);
    assert.ok((await snapshotOf(system)).tables.Tags);
    const done = await send(system, 'apply', { hash, snapshot: wanted, allowDestructive: true });
    assert.equal(done.status, 200, done.text);
    assert.deepEqual((await send(system, 'diff', wanted)).body.changes, []);
  });

  test('A snapshot without complete says nothing of tables, roles and flags that it does not name', async () => {
    const table = { fields: { Name: { type: 'String' }, To: { type: 'Pointer', targetClass: 'Accounts' } } };
    const partial = { format: 1, tables: { Trips: table }, roles: { Driver: { roles: ['Sales'] } }, config: {} };
    const { body } = await send(target, 'diff', partial);
    assert.deepEqual(textsOf(await send(target, 'diff', partial)), ['+ Trips: table, 2 fields', '+ role Driver']);
    assert.equal((await send(target, 'apply', { hash: body.hash, snapshot: partial })).status, 200);
    assert.deepEqual((await send(target, 'diff', partial)).body.changes, []);
    const now = await snapshotOf(target);
    assert.deepEqual(now.tables.Trips, table);
    assert.deepEqual(now.roles, { ...snapshot.roles, Driver: { roles: ['Sales'] } });
  });

  test('only: the named tables, with their permissions, labels, triggers and reports', async () => {
    const system = await newSystem(get());
    const { body } = await send(system, 'diff', { snapshot, only: ['Visits'] });
    assert.deepEqual(textsOf(await send(system, 'diff', { snapshot, only: ['Visits'] })), [
      '+ Visits: table, 12 fields',
      '+ report Open visits (Visits)',
    ]);
    assert.equal((await send(system, 'apply', { hash: body.hash, snapshot, only: ['Visits'] })).status, 200);
    const now = await snapshotOf(system);
    assert.deepEqual([now.tables.Visits, now.permissions.Visits], [snapshot.tables.Visits, snapshot.permissions.Visits]);
    assert.ok(!now.tables.Accounts.fields.Score && !now.roles.Dispatcher);
    assert.deepEqual((await send(system, 'diff', { snapshot, only: ['Visits'] })).body.changes, []);
    assertError(
      await send(system, 'diff', { snapshot, only: ['Visit'] }),
      400,
      107,
      /there is no table Visit; is Visits meant\?/,
    );
    assert.deepEqual(textsOf(await send(system, 'diff', { snapshot, parts: ['config'] })), [
      '+ flag AcceptWebToTable',
      '+ flag TimeZone',
    ]);
  });
});
