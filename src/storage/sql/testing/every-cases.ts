// `updateAll`, `Reader.textOf` and the processes that serve a system, for the unit tests of both engines.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Filter } from '../../../query/model/filter.ts';
import { fieldOf, tableOf } from '../../../schema/model.ts';
import { storedFile } from '../../../values/types/file-text.ts';
import type { StoredValue } from '../../../values/types/type.ts';
import { assignmentsOf, columnFields, columnsOf } from '../../column-values.ts';
import { type Mutation, type Store, wholeText } from '../../port.ts';
import { tableChanges } from './tables.ts';

/** Defines the tests. @param store one without tables `Jobs` and `Kinds` */
export async function testEvery(store: Store): Promise<void> {
  const write = (...mutations: Mutation[]) => store.write({ plan: () => ({ changes: [], mutations }) });
  const types = { n: 'Number', s: 'String', d: 'Date', yes: 'Boolean', a: 'Array', o: 'Object', h: 'HTML/XML' };
  const more = { f: 'File', p: 'PrivateFile', P: 'Pointer:Jobs', R: 'Relation:Jobs', R2: 'Relation:Kinds' };
  const changes = [
    ...tableChanges('Jobs', { owner: 'String', n: 'Number', due: 'Date', is: 'Boolean' }),
    ...tableChanges('Kinds', { ...types, ...more }),
  ];
  await store.write({ plan: () => ({ changes, mutations: [] }) });
  let jobs = tableOf(store.schema(), 'Jobs');
  const kinds = tableOf(store.schema(), 'Kinds');
  let made = 0;
  const insert = (table: typeof jobs, objectId: string, values: Record<string, StoredValue>): Mutation => {
    made++;
    return { kind: 'insert', table, values: columnsOf(table, { objectId, createdAt: made, updatedAt: made, ...values }) };
  };
  const holds = (name: string, value: string | number): Filter => ({
    kind: 'compare',
    field: fieldOf(jobs, name),
    op: 'eq',
    value,
  });
  const setAll = (filter: Filter, values: Record<string, StoredValue>): Mutation => ({
    kind: 'updateAll',
    table: jobs,
    filter,
    assignments: assignmentsOf(jobs, values),
  });
  const find = async (table: typeof jobs, filter: Filter = { kind: 'always' }): Promise<string> => {
    const all = { includes: [], order: [], skip: 0, limit: 1000, count: false, withScore: false };
    return wholeText((await store.reader.find({ table, fields: [...table.fields.values()], filter, ...all })).results);
  };
  const owners = async () =>
    JSON.parse(await find(jobs)).map(({ owner, n, is }: Record<string, unknown>) => [owner, n, is].join(' '));

  test('updateAll: sets the fields of what matches, in its turn, and counts as a write', async () => {
    await write(...['a', 'b', 'a'].map((owner, at) => insert(jobs, `j${at}`, { owner, n: at, is: true })));
    const version = store.tableVersion('Jobs');
    await write(setAll(holds('owner', 'nobody'), { owner: 'x' }));
    await write(setAll(holds('owner', 'a'), { owner: 'c d', n: null, is: false, due: 5 }));
    assert.notEqual(store.tableVersion('Jobs'), version);
    assert.deepEqual(await owners(), ['c d  false', 'b 1 true', 'c d  false']);
    const back = { kind: 'update', table: jobs, objectId: 'j1', guard: null, returning: [] } as const;
    await Promise.all([
      write({ ...back, assignments: assignmentsOf(jobs, { owner: 'c d' }) }),
      write(setAll(holds('owner', 'c d'), { owner: 'e' })),
      write({ ...back, assignments: assignmentsOf(jobs, { n: 7 }) }),
      write(insert(jobs, 'j3', { owner: 'c d' })),
    ]);
    assert.deepEqual(await owners(), ['e  false', 'e 7 true', 'e  false', 'c d  ']);
  });

  test('updateAll: full text follows', async () => {
    const indexed = { kind: 'setTextIndex', className: 'Jobs', fields: ['owner'] } as const;
    await store.write({ plan: () => ({ changes: [indexed], mutations: [] }) });
    jobs = tableOf(store.schema(), 'Jobs');
    const found = async (term: string) => {
      const search = { terms: [term], phrases: [], excluded: [], caseSensitive: false, diacriticSensitive: false };
      return JSON.parse(await find(jobs, { kind: 'text', table: jobs, search })).length;
    };
    await write(setAll(holds('owner', 'e'), { owner: 'Found again' }));
    assert.deepEqual([await found('found'), await found('d'), await found('e')], [3, 1, 0]);
  });

  test('updateAll: takes effect with its write or not at all', async () => {
    const none = { kind: 'require', table: jobs, filter: holds('owner', 'nobody') } as const;
    const before = await owners();
    await assert.rejects(write(setAll({ kind: 'always' }, { owner: 'all' }), none), { code: 101 });
    await assert.rejects(write(none, setAll({ kind: 'always' }, { owner: 'all' })), { code: 101 });
    const results = await Promise.allSettled([
      write(insert(jobs, 'j4', {}), setAll(holds('objectId', 'j4'), { owner: 'four' })),
      write(insert(jobs, 'j4', {}), setAll({ kind: 'always' }, { owner: 'all' })),
    ]);
    assert.deepEqual(results.map(({ status }) => status), ['fulfilled', 'rejected']); // biome-ignore format: one comparison
    assert.deepEqual(await owners(), [...before, 'four  ']);
  });

  test('textOf: as a read answers it, for every type', async () => {
    await write(
      insert(kinds, 'k/1 ü', {
        ...{ n: 0.1, s: '"ש\\', d: -5, yes: true, a: '[1,{"a":null}]', o: '{"b":1e21}', h: '<b>', P: 'j0' },
        ...{ f: storedFile('f1_a.png', 'public'), p: storedFile('p1', 'private') },
        ...{ ACL: '{"*":{"read":true}}', createdBy: 'master', updatedBy: 'someone' },
      }),
      insert(kinds, 'k2', { yes: false, n: 1e21, d: 8.64e15 }),
      insert(kinds, 'k3', {}),
    );
    const fields = columnFields(kinds);
    const texts: string[] = [];
    // Booleans are 1 and 0 in these rows.
    for (const [, ...values] of await store.raw.rows(kinds, 0, 10)) {
      texts.push(store.reader.textOf(kinds, fields, values));
      const isSet = fields.map((_, at) => values[at] !== null);
      const some = fields.filter((_, at) => isSet[at]);
      const text = store.reader.textOf(kinds, some, values.filter((_, at) => isSet[at])); // biome-ignore format: one call
      assert.deepEqual(JSON.parse(text), JSON.parse(texts.at(-1) as string));
    }
    assert.equal(`[${texts.join()}]`, await find(kinds));
    assert.match(texts[0] as string, /"yes":true.*"p":\{[^}]*k%2F1%20%C3%BC.*"R":\{"__type":"Relation","className":"Jobs"\}/);
    assert.deepEqual(store.reader.textOf(kinds, [fieldOf(kinds, 'objectId'), fieldOf(kinds, 'yes')], ['x', false]), texts[2]
      ?.replace('"k3"', '"x"').replace(/"createdAt".*"ACL":\{\}/, '"yes":false,"ACL":{}')); // biome-ignore format: one comparison
  });

  test('find: short lists come as the values that their text has, for every type', async () => {
    const whole = { table: kinds, fields: [...kinds.fields.values()], filter: { kind: 'always' }, includes: [] } as const;
    const query = { ...whole, order: [], skip: 0, limit: 10, count: true, withScore: false };
    const { results, rows, count } = await store.reader.find(query, 'values');
    assert.deepEqual([results, rows?.length, count], ['', 3, 3]);
    assert.equal(JSON.stringify(rows), JSON.stringify(JSON.parse(await find(kinds))));
    const again = await store.reader.find(query, 'values');
    assert.notEqual(again.rows?.[0], rows?.[0]);
  });

  test('find: short lists come as texts that stand inside a JSON string, for every type', async () => {
    const whole = { table: kinds, fields: [...kinds.fields.values()], filter: { kind: 'always' }, includes: [] } as const;
    const query = { ...whole, order: [], skip: 0, limit: 10, count: true, withScore: false };
    const { results, escaped, count } = await store.reader.find(query, 'escaped');
    assert.deepEqual([results, escaped?.length, count], ['', 3, 3]);
    assert.equal(`"[${escaped?.join()}]"`, JSON.stringify(await find(kinds)));
  });

  test('a process is among those that serve its systems', async () => {
    assert.ok((await store.cluster.processes()).has(store.cluster.processId));
    assert.match(store.cluster.processId, /^\w+$/);
    await store.bulkTransaction(async (within) => {
      assert.equal(within.cluster.processId, store.cluster.processId);
      assert.ok((await within.cluster.processes()).has(store.cluster.processId));
    });
  });
}
