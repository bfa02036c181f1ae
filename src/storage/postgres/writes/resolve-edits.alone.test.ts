import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
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
  const add = (...objects: JsonValue[]): JsonObject => ({ list: { __op: 'Add', objects } });
  /** Number of transactions that last wrote the records of a table. */
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
    const returned = outcomes.map((one) => (one as { value?: { list?: unknown[] } }).value?.list?.slice(1));
    assert.deepEqual(returned[2], ['a', 'b']);
    assert.deepEqual(returned[5], ['a', 'b', 'c']);
    assert.deepEqual((await store.get('Turns', 'r')).list, [0, 'a', 'b', 'c', 'd']);
  });

  /** Counts updates of a table's rows from now on. */
  const counted = async (table: string) => {
    const of = `${schemaName}."t_${table}"`;
    const counts = `${schemaName}."counts_${table}"`;
    const body = `BEGIN INSERT INTO ${counts} VALUES (1); RETURN NULL; END`;
    await query(place.url, `CREATE TABLE ${counts} (n int)`);
    await query(place.url, `CREATE FUNCTION ${counts}() RETURNS trigger LANGUAGE plpgsql AS $$ ${body} $$`);
    await query(place.url, `CREATE TRIGGER counts AFTER UPDATE ON ${of} FOR EACH ROW EXECUTE FUNCTION ${counts}()`);
    return async () => {
      const [row] = await query(
        place.url,
        `WITH all_of AS (DELETE FROM ${counts} RETURNING n) SELECT count(*)::int AS n FROM all_of`,
      );
      return (row as { n: number }).n;
    };
  };

  test('of edits of one record the last is carried out for all, and each tells what it made', async () => {
    await store.create('Once', { objectId: 'r', list: [0], doc: {}, n: 0 });
    await store.create('Once', { objectId: 's', list: [0], doc: {}, n: 0 });
    const updates = await counted('Once');
    const returned = await Promise.all(
      [1, 2, 3].flatMap((n) => [store.update('Once', 'r', add(n)), store.update('Once', 's', { 'list.0': n })]),
    );
    assert.deepEqual(
      returned.map(({ list }) => list),
      [[0, 1], undefined, [0, 1, 2], undefined, [0, 1, 2, 3], undefined],
    );
    assert.equal(await updates(), 2);
    const rows = await store.find('Once');
    assert.deepEqual(
      rows.map(({ list, updatedAt }) => [list, updatedAt]),
      [
        [[0, 1, 2, 3], returned[4]?.updatedAt],
        [[3], returned[5]?.updatedAt],
      ],
    );
  });

  test('edits of other columns, and what is more than an edit, are carried out by themselves', async () => {
    await store.create('Each', { objectId: 'r', list: [0], doc: {}, n: 0 });
    const updates = await counted('Each');
    const bodies: JsonObject[] = [
      add(1),
      { 'doc.a': 1 },
      add(2),
      { ...add(3), n: { __op: 'Increment', amount: 1 } },
      add(4),
      add(5),
    ];
    const returned = await Promise.all(bodies.map((body) => store.update('Each', 'r', body)));
    assert.equal(await updates(), 5);
    assert.deepEqual([returned[3]?.n, returned[4]?.list], [1, [0, 1, 2, 3, 4]]);
    const { list, doc, n } = await store.get('Each', 'r');
    assert.deepEqual([list, doc, n], [[0, 1, 2, 3, 4, 5], { a: 1 }, 1]);
  });

  test('one that is too large, or refused, fails alone among those that another is carried out for', async () => {
    await store.create('Bound', { objectId: 'r', list: large(12) });
    const added = ['a', 'x'.repeat(9 * MB), 'b', 'c'].map((value) => store.update('Bound', 'r', add(value)));
    const shrunk = { list: { __op: 'Remove', objects: large(12) } };
    const outcomes = await Promise.allSettled([
      ...added,
      store.update('Bound', 'r', shrunk),
      store.update('Bound', 'r', add('d')),
    ]);
    assert.deepEqual(statuses(outcomes), ['ok', 116, 'ok', 'ok', 'ok', 'ok']);
    assert.deepEqual((await store.get('Bound', 'r')).list, ['a', 'b', 'c', 'd']);
    const more = await Promise.allSettled(
      [add(1), { 'list.0.x': 1 }, add(2), { list: 5 }, add(3), add(4)].map((body) => store.update('Bound', 'r', body)),
    );
    assert.deepEqual(statuses(more), ['ok', 111, 'ok', 111, 'ok', 'ok']);
    assert.deepEqual((await store.get('Bound', 'r')).list, ['a', 'b', 'c', 'd', 1, 2, 3, 4]);
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
