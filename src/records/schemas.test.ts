import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { anonymous, invalid, master, type Principal } from '../access/index.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { Store } from '../storage/port.ts';
import { addressesOf } from '../storage/sql/testing/addresses.ts';
import { SqliteEngine } from '../storage/sqlite/index.ts';
import { openAnyway } from '../storage/testing/open.ts';
import { provision } from '../systems/provision.ts';
import type { RecordContext } from './context/context.ts';
import { readRows } from './read/system-reads.ts';
import { createSchema, deleteSchema, getSchema, listSchemas, updateSchema } from './schemas.ts';
import { masterContext } from './testing/context.ts';
import { createRecord } from './write/create.ts';

describe('schema operations on the embedded engine', () => {
  let directory = '';
  let engine: SqliteEngine;
  let store: Store;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'rds-schemas-'));
    engine = new SqliteEngine(directory, { timeLimit: 30_000, report: assert.fail, addressesOf });
    store = await openAnyway(engine, 'app');
    await provision(store);
  });
  after(async () => {
    await store.close();
    await engine.close();
    await rm(directory, { recursive: true });
  });
  const as = (principal: Principal): RecordContext => ({ ...masterContext(store), principal });
  const read = async (className: string, withDictionary = false): Promise<any> =>
    getSchema(as(master), className, withDictionary);
  const type = (name: string) => ({ type: name });

  test('a field of a new system is shown with its label where labels are asked for', async () => {
    const [plain, labelled] = [await read('_User'), await read('_User', true)];
    assert.deepEqual(plain.fields._failed_login_count, type('Number'));
    assert.deepEqual(labelled.fields._failed_login_count, { ...type('Number'), dictionary: 'כניסות כושלות ברצף' });
    assert.deepEqual(labelled.fields.objectId, { ...type('String'), dictionary: 'מזהה רשומה' });
  });

  test('everything a body may define holds in the store', async () => {
    const body = {
      fields: { s: type('String'), S: type('String'), rank: type('String'), r: { type: 'Relation', targetClass: 'Full' } },
      classLevelPermissions: { find: { '*': true } },
      timeline: { displayFields: { s: true }, index: {} },
      indexes: { one: { s: 1 }, two: { S: -1, createdAt: 1 } },
      textIndex: ['s', 'S', 'rank'],
    } satisfies JsonObject;
    const answer = await createSchema(as(master), undefined, { className: 'Full', ...body });
    assert.deepEqual({ ...answer, triggers: [] }, await read('Full'));
    const link = { __op: 'AddRelation', objects: [{ __type: 'Pointer', className: 'Full', objectId: 'x' }] };
    await createRecord(as(master), 'Full', { s: 'a', S: 'b', rank: 'c', r: link });
    await updateSchema(as(master), 'Full', { fields: { s: { __op: 'Delete' }, r: { __op: 'Delete' } } });
    const { fields, indexes } = await read('Full');
    assert.deepEqual([Object.keys(fields).slice(6), indexes], [['S', 'rank'], { two: { S: -1, createdAt: 1 } }]);
  });

  test('a table is dropped only where it is empty, whatever comes in the same turn', async () => {
    await createSchema(as(master), 'Goes', {});
    await createSchema(as(master), 'Stays', {});
    const [record, refused] = await Promise.allSettled([
      createRecord(as(master), 'Stays', {}),
      deleteSchema(as(master), 'Stays'),
    ]);
    assert.equal(record.status, 'fulfilled');
    assert.equal(
      refused.status === 'rejected' && refused.reason.message,
      'Class Stays is not empty, contains 1 objects, cannot drop schema.',
    );
    const [dropped, later] = await Promise.allSettled([
      deleteSchema(as(master), 'Goes'),
      createRecord(as(master), 'Goes', { n: 1 }),
    ]);
    assert.deepEqual([dropped.status, later.status], ['fulfilled', 'fulfilled']);
    assert.equal((await read('Goes')).fields.n.type, 'Number');
    await assert.rejects(deleteSchema(as(master), 'Nowhere'), { key: 'classMissing' });
    for (const name of ['_User', '_Nowhere', 'Config'])
      await assert.rejects(deleteSchema(as(master), name), { key: 'systemTable' });
  });

  test('changes of one turn are planned against each other', async () => {
    await createSchema(as(master), 'Race', {});
    const add = (name: string) => updateSchema(as(master), 'Race', { fields: { same: type(name) } });
    const [first, equal, other] = await Promise.allSettled([add('Number'), add('Number'), add('String')]);
    assert.deepEqual([first.status, equal.status, other.status], ['fulfilled', 'fulfilled', 'rejected']);
    const made = await Promise.allSettled([1, 2].map(() => createSchema(as(master), 'Once', {})));
    assert.deepEqual(made.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  });

  test('labels come from the rows of _Dictionary, the first of a field counting', async () => {
    await createSchema(as(master), 'Labels', { fields: { a: type('String'), b: type('String') } });
    for (const row of [
      { tblName: 'Labels', field: 'a', value: 'first' },
      { tblName: 'Labels', field: 'a', value: 'second' },
      { tblName: 'Labels', field: 'constructor', value: 'none' },
      { tblName: 'Others', field: 'b', value: 'wrong' },
      { tblName: 'Labels', field: 'b' },
    ])
      await createRecord(as(master), '_Dictionary', row);
    const { fields } = await read('Labels', true);
    assert.deepEqual([fields.a.dictionary, 'dictionary' in fields.b], ['first', false]);
    const results = await listSchemas(as(master), true);
    const listed = results.find((each) => each.className === 'Labels') as JsonObject;
    assert.equal((listed.fields as typeof fields).a.dictionary, 'first');
    assert.ok(!('triggers' in listed));
    assert.ok(!('dictionary' in (await read('Labels')).fields.a));
  });

  test('the hidden tables are not there for anybody', async () => {
    const results = await listSchemas(as(master), false);
    const names = results.map(({ className }) => className);
    for (const name of ['_StoredFile', '_StorageUsage', '_TriggerQueue']) {
      assert.ok(store.schema().tables.has(name) && !names.includes(name));
      await assert.rejects(read(name), { message: `Class ${name} does not exist.`, code: 103 });
      await assert.rejects(createSchema(as(master), name, {}), { code: 103 });
      await assert.rejects(updateSchema(as(master), name, { fields: { a: type('String') } }), { code: 103 });
      await assert.rejects(deleteSchema(as(master), name), { key: 'systemTable' });
      await assert.rejects(createRecord(as(master), name, { a: 1 }), { key: 'permissionDenied' });
    }
    const labels = await readRows<JsonObject>(store, {
      className: '_Dictionary',
      fields: ['tblName'],
      filter: () => ({ kind: 'always' }),
    });
    assert.equal(labels.filter(({ tblName }) => String(tblName).startsWith('_Sto')).length, 0);
  });

  test('every operation needs a key', async () => {
    for (const principal of [anonymous, invalid, { kind: 'user', userId: 'u', roles: ['Admin'] }] as Principal[])
      for (const attempt of [
        () => listSchemas(as(principal), false),
        () => getSchema(as(principal), '_User', false),
        () => createSchema(as(principal), 'New', {}),
        () => updateSchema(as(principal), '_User', {}),
        () => deleteSchema(as(principal), '_User'),
      ])
        await assert.rejects(attempt, { key: 'masterKeyRequired' });
    assert.ok(!store.schema().tables.has('New'));
  });
});
