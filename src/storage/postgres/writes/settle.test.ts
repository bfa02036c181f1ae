import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import * as records from '../../../records/index.ts';
import { fieldOf, tableOf } from '../../../schema/model.ts';
import type { Mutation } from '../../port.ts';
import { query, type TestDatabase, testDatabase } from '../testing/server.ts';
import { StoreProcess, schemaName, statuses } from '../testing/store-process.ts';

const MB = 1024 * 1024;

describe('edits of large values', () => {
  let place: TestDatabase;
  let store: StoreProcess<Awaited<ReturnType<typeof records.createRecord>>>;

  before(async () => {
    place = await testDatabase();
    store = await StoreProcess.start(place.url, records);
  });
  after(async () => {
    await store?.stop();
    await place?.drop();
  });

  const large = (megabytes: number) => ['x'.repeat(megabytes * MB)];
  const add = (...objects: unknown[]) => ({ list: { __op: 'Add', objects } }) as never;
  /** How many transactions the records of a table were last written in. */
  const transactions = async (table: string) => {
    const [row] = await query(place.url, `SELECT count(DISTINCT xmin::text)::int AS n FROM ${schemaName}."t_${table}"`);
    return (row as { n: number }).n;
  };

  test('one transaction holds so much of them, and all of small ones', async () => {
    const ids = ['a', 'b', 'c', 'd', 'e'];
    for (const table of ['Large', 'Small'])
      for (const objectId of ids) await store.create(table, { objectId, list: large(table === 'Large' ? 5 : 0) });
    for (const table of ['Large', 'Small']) await Promise.all(ids.map((id) => store.update(table, id, { 'list.1': id })));
    assert.deepEqual([await transactions('Large'), await transactions('Small')], [2, 1]);
    assert.deepEqual(
      (await store.find('Large', { keys: 'list' })).map(({ list }) => (list as string[])[1]),
      ids,
    );
  });

  test('what the edits make is counted as well as what they read', async () => {
    await store.create('Made', { objectId: 'r', list: [] });
    const first = { objectId: 'other', list: [] };
    await store.create('Made', first);
    await Promise.all([
      store.update('Made', 'other', add(1)),
      ...Array.from({ length: 4 }, () => store.update('Made', 'r', add('x'.repeat(4 * MB)))),
    ]);
    assert.equal(await transactions('Made'), 2);
    assert.equal(((await store.get('Made', 'r')).list as unknown[]).length, 4);
  });

  test('each has its own outcome, in its turn, wherever a transaction ends', async () => {
    await store.create('Turns', { objectId: 'r', list: large(7) });
    const outcomes = await Promise.allSettled([
      store.update('Turns', 'r', add('a')),
      store.update('Turns', 'r', { 'list.0.x': 1 }),
      store.update('Turns', 'r', add('b')),
      store.update('Turns', 'nowhere', add('b')),
      store.create('Turns', { objectId: 'r' }),
      store.update('Turns', 'r', add('c')),
      store.update('Turns', 'r', { 'list.0': 0 }),
      store.update('Turns', 'r', add('d')),
    ]);
    assert.deepEqual(statuses(outcomes), ['ok', 111, 'ok', 101, 137, 'ok', 'ok', 'ok']);
    const told = outcomes.map((one) => (one as { value?: { list?: unknown[] } }).value?.list?.slice(1));
    assert.deepEqual(told[2], ['a', 'b']);
    assert.deepEqual(told[5], ['a', 'b', 'c']);
    assert.deepEqual((await store.get('Turns', 'r')).list, [0, 'a', 'b', 'c', 'd']);
  });

  test('a column is read for the next edit where one before does not find the record', async () => {
    await store.create('Late', { objectId: 'r', list: ['first'] });
    const write = (value: string, expected: string) =>
      store.store.write({
        plan(schema) {
          const table = tableOf(schema, 'Late');
          const condition = { kind: 'compare', field: fieldOf(table, 'objectId'), op: 'eq', value: expected } as const;
          const edits = [{ op: 'add', path: [], objects: [value] }] as const;
          const assignments = [{ kind: 'edit', field: fieldOf(table, 'list'), edits }] as const;
          const mutation: Mutation = { kind: 'update', table, objectId: 'r', guard: null, condition, assignments, returning: [] };
          return { changes: [], mutations: [mutation] };
        },
      });
    const outcomes = await Promise.allSettled([write('a', 'another'), write('b', 'r'), write('c', 'another'), write('d', 'r')]);
    assert.deepEqual(statuses(outcomes), [101, 'ok', 101, 'ok']);
    assert.deepEqual((await store.get('Late', 'r')).list, ['first', 'b', 'd']);
  });
});
