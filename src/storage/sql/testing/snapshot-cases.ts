// Snapshots of records in queue rows (`Snapshot`), for the unit tests of both engines: the record's values when the step runs.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Field, fieldOf, type TableSchema, tableOf } from '../../../schema/model.ts';
import type { StoredValue } from '../../../values/types/type.ts';
import { columnFields, snapshotValues } from '../../column-values.ts';
import { type Mutation, type Store, wholeText } from '../../port.ts';
import { MAX_SNAPSHOT_CHARS, MAX_SNAPSHOT_VALUE_CHARS } from '../../snapshot-limits.ts';
import { tableChanges } from './tables.ts';

type Insert = Extract<Mutation, { kind: 'insert' }>;
type Update = Extract<Mutation, { kind: 'update' }>;
type Values = Readonly<Record<string, StoredValue>>;

const texts = ['', 'שלום "x" \\ \u0001\n\u2028', '😀\ud7ff\uffff', "'; --", '{"a":1}', 'null'];
const numbers = [0, 0.1 + 0.2, -5e-324, 1.7976931348623157e308, 123456789012345680, 1e21, -3];
const dates = [0, -62135596800000, 253402300799999, 1795331467235];
const jsons = ['[]', '[1.0,"a",{"b":null}]', '["\\u0001","\\ud83d\\ude00","ü"]'];

/** Values of records: each type with each of its values, and null. */
const records: readonly Values[] = [
  {},
  ...texts.map((s) => ({ s })),
  ...numbers.map((n) => ({ n })),
  ...dates.map((d) => ({ d })),
  ...jsons.map((a) => ({ a })),
  { yes: true, o: '{"a":{"b":[1,2]},"c":1e21}', ACL: '{"*":{"read":true}}' },
  { yes: false, f: '{"__type":"File","name":"a.png"}', P: 'somebody' },
];

/** Defines the tests. @param store one without tables `Seen`, `Wide`, `_Queue` and `_Told` */
export async function testSnapshots(store: Store): Promise<void> {
  const write = (...mutations: Mutation[]) => store.write({ plan: () => ({ changes: [], mutations }) });
  const types = { n: 'Number', s: 'String', d: 'Date', yes: 'Boolean', a: 'Array', o: 'Object', f: 'File', P: 'Pointer:Seen' };
  const changes = [
    ...tableChanges('Seen', { ...types, R: 'Relation:Seen' }),
    ...tableChanges('_Queue', { of: 'String', record: 'String', level: 'Number', due: 'Date' }),
    ...tableChanges('_Told', { of: 'String', Last: 'Boolean', n: 'Number' }),
  ];
  await store.write({ plan: () => ({ changes, mutations: [] }) });
  const [seen, queue, told] = ['Seen', '_Queue', '_Told'].map((name) => tableOf(store.schema(), name)) as [
    TableSchema,
    TableSchema,
    TableSchema,
  ];
  const fields = columnFields(seen);
  const n = fieldOf(seen, 'n');
  let made = 0;
  const insert = (table: TableSchema, objectId: string, values: Values, more: Partial<Insert> = {}): Insert => ({
    kind: 'insert',
    table,
    values: Object.entries({ objectId, createdAt: ++made, updatedAt: made, ...values }).map(([name, value]) => [
      fieldOf(table, name),
      value,
    ]),
    ...more,
  });
  const snapshot = (objectId: string, of = objectId, from = seen, list: readonly Field[] = fields): Insert =>
    insert(
      queue,
      `job${++made}`,
      { of, level: 1.5, due: made },
      {
        isNote: true,
        source: { kind: 'snapshot', from, objectId, fields: list, to: fieldOf(queue, 'record') },
      },
    );
  const update = (objectId: string, values: Values, more: Partial<Update> = {}): Update => ({
    kind: 'update',
    table: seen,
    objectId,
    guard: null,
    assignments: Object.entries(values).map(([name, value]) => ({ kind: 'set', field: fieldOf(seen, name), value })),
    returning: [],
    ...more,
  });
  const count = (objectId: string, more: Partial<Update> = {}) =>
    update(objectId, {}, { assignments: [{ kind: 'increment', field: n, amount: 1 }], ...more });
  const timeline = (of: string): Mutation[] => [
    { kind: 'unmark', table: told, holding: [[fieldOf(told, 'of'), of]], mark: fieldOf(told, 'Last') },
    insert(
      told,
      `told${++made}`,
      { of, Last: true },
      {
        isNote: true,
        source: { kind: 'copy', from: seen, objectId: of, fields: [[fieldOf(told, 'n'), n]] },
      },
    ),
  ];
  const rows = async (table: TableSchema, of: string): Promise<Record<string, unknown>[]> => {
    const filter = { kind: 'compare', field: fieldOf(table, 'of'), op: 'eq', value: of } as const;
    const all = { includes: [], order: [], skip: 0, limit: 1000, count: false, withScore: false };
    const { results } = await store.reader.find({ table, fields: [...table.fields.values()], filter, ...all });
    return JSON.parse(await wholeText(results));
  };
  /** Returns the snapshots of a record in order, each with its values that are not null. */
  const snapshots = async (of: string, list: readonly Field[] = fields): Promise<Record<string, StoredValue>[]> =>
    (await rows(queue, of)).map(({ record }) => {
      const values = snapshotValues(record as string, list);
      return Object.fromEntries(list.flatMap(({ name }, at) => (values[at] === null ? [] : [[name, values[at] as StoredValue]])));
    });
  const counted = async (of: string) => (await snapshots(of)).map((values) => values.n ?? null);

  test('snapshots: every value of every type is exact, before an update, after it, and by itself', async () => {
    for (const [at, values] of records.entries()) {
      const id = `exact${at}`;
      await write(insert(seen, id, { s: 'before' }));
      await write(snapshot(id), update(id, { s: null, ...values }), ...timeline(id), snapshot(id));
      await write(update(id, { updatedAt: 7 }), ...timeline(id), snapshot(id));
      await write(snapshot(id));
      const [before, ...after] = await snapshots(id);
      assert.equal(before?.s, 'before');
      assert.equal(after.length, 3);
      for (const { createdAt, updatedAt, ...now } of after) assert.deepEqual(now, { objectId: id, ...values });
      assert.deepEqual(after.slice(1).map(({ updatedAt }) => updatedAt), [7, 7]); // biome-ignore format: one comparison
      assert.deepEqual((await rows(told, id)).map(({ Last }) => Last), [false, true]); // biome-ignore format: one comparison
    }
    const [job] = await rows(queue, 'exact0');
    assert.equal(job?.level, 1.5);
  });

  test('snapshots: counts, edits and returned values, the snapshot and the timeline in one write', async () => {
    await write(insert(seen, 'edited', { n: 1, a: '[1]' }));
    const list = fieldOf(seen, 'a');
    const edit = { kind: 'edit', field: list, edits: [{ path: [], op: 'add', objects: [2] }] } as const;
    const done = write(
      snapshot('edited'),
      update('edited', {}, { assignments: [edit, { kind: 'increment', field: n, amount: 2 }], returning: [n, list] }),
      ...timeline('edited'),
      snapshot('edited'),
    );
    assert.deepEqual(await done, { returned: ',"n":3,"a":[1,2]' });
    const together = write(count('edited', { returning: [list, n] }), ...timeline('edited'), snapshot('edited'));
    assert.deepEqual(await together, { returned: ',"a":[1,2],"n":4' });
    assert.deepEqual((await snapshots('edited')).map(({ n, a }) => [n, a]), [[1, '[1]'], [3, '[1,2]'], [4, '[1,2]']]); // biome-ignore format: one comparison
    assert.deepEqual((await rows(told, 'edited')).map(({ n, Last }) => [n, Last]), [[3, false], [4, true]]); // biome-ignore format: one comparison
  });

  test('snapshots: nothing is added where there is no record, and nothing stays of a write that fails', async () => {
    await write(snapshot('nobody'));
    await assert.rejects(write(snapshot('nobody'), count('nobody'), snapshot('nobody')), { code: 101 });
    await assert.rejects(write(count('nobody'), ...timeline('nobody'), snapshot('nobody')), { code: 101 });
    await write(insert(seen, 'there', { n: 1 }));
    const hidden = { kind: 'record', objectId: 'another' } as const;
    await assert.rejects(write(snapshot('there'), count('there', { guard: hidden }), snapshot('there')), { code: 101 });
    await assert.rejects(write(count('there', { guard: hidden }), snapshot('there')), { code: 101 });
    const gone = { kind: 'delete', table: seen, objectId: 'there', guard: null } as const;
    await write(insert(seen, 'pointing', { P: 'there' }));
    await assert.rejects(write(snapshot('there'), gone), { key: 'pointedAt' });
    for (const id of ['nobody', 'there']) assert.deepEqual([await snapshots(id), await rows(told, id)], [[], []], id);
    assert.deepEqual(await Promise.all([write(snapshot('nobody')), write(count('there'), snapshot('there'))]), [
      { returned: '' },
      { returned: '' },
    ]);
    assert.deepEqual(await counted('there'), [2]);
  });

  test('snapshots: before a delete, after a create, of another record', async () => {
    await write(insert(seen, 'short', { n: 1 }), snapshot('short'));
    const gone = { kind: 'delete', table: seen, objectId: 'short', guard: null } as const;
    await write(snapshot('short'), gone, ...timeline('short').slice(0, 1));
    await write(insert(seen, 'other', { n: 5 }));
    await write(insert(seen, 'short', { n: 2 }), snapshot('other', 'short'));
    await write(count('short'), snapshot('other', 'short'), snapshot('short'));
    assert.deepEqual(await counted('short'), [1, 1, 5, 5, 3]);
  });

  test('snapshots: of many writes of a turn each shows what those before it made', async () => {
    const ids = ['many1', 'many2', 'many3'];
    await Promise.all(ids.map((id) => write(insert(seen, id, { n: 0 }))));
    const each = Array.from({ length: 120 }, (_, at): Promise<unknown> => {
      const id = ids[at % 3] as string;
      // With the timeline; with a snapshot before it; with one of a missing record between them; alone.
      if (at % 4 === 0) return write(count(id), ...timeline(id), snapshot(id));
      if (at % 4 === 1) return write(snapshot(id, `${id} before`), count(id), snapshot(id));
      if (at % 4 === 2) return assert.rejects(write(snapshot(id), count('nobody'), snapshot(id)), { code: 101 });
      return write(count(id), snapshot(id));
    });
    await Promise.all(each);
    for (const id of ids) {
      const after = await counted(id);
      assert.deepEqual(after, Array.from({ length: 30 }, (_, at) => at + 1), id); // biome-ignore format: one comparison
      const before = await counted(`${id} before`);
      assert.equal(before.length, 10);
      assert.deepEqual(
        before,
        before.toSorted((x, y) => Number(x) - Number(y)),
      );
    }
  });

  test('snapshots: in the commit that adds a field, and in one commit with others', async () => {
    await write(insert(seen, 'grown', { n: 1 }));
    await store.write({
      plan: () => ({
        changes: [{ kind: 'addField', className: 'Seen', name: 'late', type: 'String' }],
        mutations: [snapshot('grown'), count('grown'), snapshot('grown')],
      }),
    });
    await store.bulkTransaction(async (within) => {
      await within.write({ plan: () => ({ changes: [], mutations: [count('grown'), snapshot('grown')] }) });
      await within.write({ plan: () => ({ changes: [], mutations: [snapshot('grown'), count('grown')] }) });
    });
    assert.deepEqual(await counted('grown'), [1, 2, 3, 3]);
  });

  test('snapshots: long values are cut, those of JSON left out; so is what comes to too much together', async () => {
    const most = MAX_SNAPSHOT_VALUE_CHARS;
    const [text, json] = ['é'.repeat(most - 1), `["${'é'.repeat(most - 4)}"]`];
    await write(insert(seen, 'long', { s: `${text}z`, a: json, o: `{"a":"${'x'.repeat(most)}"}`, n: 1 }), snapshot('long'));
    await write(snapshot('long'), update('long', { s: `${text}😀z`, a: `${json} `, n: 2 }), snapshot('long'));
    const ACL = `{"${'u'.repeat(most)}":{"read":true}}`;
    await write(insert(seen, 'hers', { ACL }), snapshot('hers'), update('hers', { n: 1 }), snapshot('hers'));
    assert.ok((await snapshots('hers')).every((value) => value.ACL === ACL));
    const [, ...seenNow] = await snapshots('long');
    assert.deepEqual(seenNow.map(({ n }) => n), [1, 2]); // biome-ignore format: one comparison
    assert.ok(seenNow[0]?.s === `${text}z` && seenNow[0].a === json && seenNow[0].o === undefined);
    assert.ok(seenNow[1]?.s === text || seenNow[1]?.s === `${text}😀`, 'cut');
    assert.equal(seenNow[1].a, undefined);

    const names = Array.from({ length: 40 }, (_, at) => `f${at}`);
    const types = Object.fromEntries([...names.map((name) => [name, 'String']), ['list', 'Array'], ['n', 'Number']]);
    await store.write({ plan: () => ({ changes: tableChanges('Much', types), mutations: [] }) });
    const table = tableOf(store.schema(), 'Much');
    const all = columnFields(table);
    const much = Object.fromEntries(names.map((name) => [name, 'x'.repeat(name < 'f3' ? 2 * most : 10)]));
    // Without its ACL the record would be public.
    const long = `{"${'u'.repeat(300_000)}":{"read":true}}`;
    await write(insert(table, 'much', { ...much, list: `["${'x'.repeat(most - 10)}"]`, n: 1, ACL: long }));
    const more: Update = {
      ...update('much', { n: 2 }),
      table,
      assignments: [{ kind: 'set', field: fieldOf(table, 'n'), value: 2 }],
    };
    await write(snapshot('much', 'much', table, all), more, snapshot('much', 'much', table, all));
    await write(more, snapshot('much', 'much', table, all));
    const kept = await rows(queue, 'much');
    assert.ok(kept.every(({ record }) => (record as string).length < 1.1 * MAX_SNAPSHOT_CHARS));
    const values = await snapshots('much', all);
    assert.deepEqual(values.map(({ n, f9 }) => [n, f9]), [1, 2, 2].map((now) => [now, 'x'.repeat(10)])); // biome-ignore format: one comparison
    assert.ok(values.every((value) => value.ACL === long));
    const cut = values.map(({ f1 }) => (f1 as string).length);
    assert.ok(new Set(cut).size === 1 && (cut[0] as number) > 100_000, String(cut));
  });

  test('snapshots: of a table that has as many fields as may be', async () => {
    const wide = Object.fromEntries(Array.from({ length: 1_580 }, (_, at) => [`f${at}`, at % 2 ? 'Number' : 'String']));
    await store.write({ plan: () => ({ changes: tableChanges('Wide', wide), mutations: [] }) });
    const table = tableOf(store.schema(), 'Wide');
    const all = columnFields(table);
    await write(insert(table, 'w', { f1: 0.1, f1579: 5, f1578: 'x' }));
    const wider: Update = { ...update('w', {}), table, assignments: [{ kind: 'set', field: fieldOf(table, 'f3'), value: 3 }] };
    await write(snapshot('w', 'w', table, all), wider, snapshot('w', 'w', table, all));
    await write(wider, snapshot('w', 'w', table, all));
    const kept = (await snapshots('w', all)).map(({ f1, f3, f1578, f1579 }) => [f1, f3, f1578, f1579]);
    assert.deepEqual(kept, [undefined, 3, 3].map((f3) => [0.1, f3, 'x', 5])); // biome-ignore format: one comparison
  });
}
