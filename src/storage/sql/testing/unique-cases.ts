// Unique indexes and required fields, for the unit tests of both engines.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SchemaChange } from '../../../schema/change.ts';
import { tableOf, type UniqueForm, type UniqueIndex } from '../../../schema/model.ts';
import { uniqueKey } from '../../../schema/unique-key.ts';
import type { StoredValue } from '../../../values/types/type.ts';
import { assignmentsOf, columnsOf } from '../../column-values.ts';
import { DuplicateKey } from '../../constraints.ts';
import { type Mutation, SchemaChanged, type Store } from '../../port.ts';
import { tableChanges } from './tables.ts';

/** Texts whose keys differ between forms, or nearly do between engines. */
const texts = [
  ...[
    'a',
    'A',
    'ä',
    'Ä',
    'i',
    'I',
    'ı',
    'İ',
    'i̇',
    'ß',
    'SS',
    'ss',
    'ẞ',
    'ς',
    'σ',
    'Σ',
    'ΟΔΟΣ',
    'οδος',
    'ﬁ',
    'FI',
    'K',
    'k',
    'ŉ',
    'ǆ',
    'ǅ',
  ],
  ...[
    'שלום',
    'שלום ',
    'שָׁלוֹם',
    '',
    ' ',
    '0',
    '03-1234567',
    '+972 3 123 4567',
    '9723',
    '03',
    '972',
    '0',
    'tel',
    '٠٣',
    '\u{10400}',
    '\u{10428}',
  ],
  ...[
    'x'.repeat(256),
    'X'.repeat(257),
    'x'.repeat(257),
    'é'.repeat(129),
    'É'.repeat(129),
    `${'5'.repeat(1_000)}`,
    '5'.repeat(1_001),
  ],
  ...[
    `7${' '.repeat(9_999)}`,
    `7${' '.repeat(10_000)}`,
    `7${'😀'.repeat(4_999)}`,
    `7${'😀'.repeat(5_000)}`,
    'Ꭰ',
    'ꭰ',
    'ᏸ',
    'Ᏸ',
    'ᾳ',
    'ΑΙ',
    'ᾼ',
  ],
  // The last one is the key of the one before.
  ...['\u0001', '\u0001x', 'z'.repeat(300), uniqueKey('text', 'z'.repeat(300)) ?? ''],
];

/** Defines the tests. @param store one without tables `Keyed`, … */
export async function testUnique(store: Store): Promise<void> {
  let made = 0;
  let tables = 0;

  /** Creates a table with records. @param rows values of each, whose id is its position */
  async function tableWith(fields: Record<string, string>, rows: readonly Record<string, StoredValue>[]): Promise<string> {
    const className = `Keyed${++tables}`;
    await store.write({ plan: () => ({ changes: tableChanges(className, fields), mutations: [] }) });
    await Promise.all(rows.map((values, at) => write(insert(className, `r${at}`, values))));
    return className;
  }
  const table = (className: string) => tableOf(store.schema(), className);
  const write = (...mutations: Mutation[]) => store.write({ plan: () => ({ changes: [], mutations }) });
  const change = (...changes: SchemaChange[]) => store.write({ plan: () => ({ changes, mutations: [] }) });
  const insert = (className: string, objectId: string, values: Record<string, StoredValue>): Mutation => {
    made++;
    const all = { objectId, createdAt: made, updatedAt: made, ...values };
    return { kind: 'insert', table: table(className), values: columnsOf(table(className), all) };
  };
  const update = (className: string, objectId: string, values: Record<string, StoredValue>): Mutation => ({
    kind: 'update',
    table: table(className),
    objectId,
    guard: null,
    assignments: assignmentsOf(table(className), values),
    returning: [],
  });
  const setUnique = (className: string, fields: string[], as?: UniqueIndex['as'], name = 'one') =>
    change({ kind: 'setUniqueIndex', className, index: { name, fields, ...(as && { as }) } });
  const index = (className: string, name = 'one') => table(className).uniqueIndexes.get(name) as UniqueIndex;
  const refused =
    (className: string, name = 'one') =>
    (error: unknown) =>
      error instanceof DuplicateKey && error.className === className && error.index.name === name && error.code === 137;

  for (const form of ['text', 'nocase', 'phone'] as const)
    test(`unique as ${form}: the engine computes the keys of the service`, async () => {
      const className = await tableWith({ s: 'String' }, []);
      await setUnique(className, ['s'], form === 'text' ? undefined : form);
      const holders = new Map<StoredValue, string>();
      for (const [at, s] of texts.entries()) {
        const key = uniqueKey(form as UniqueForm, s);
        const made = write(insert(className, `r${at}`, { s }));
        if (key === null || !holders.has(key)) await made;
        else await assert.rejects(made, refused(className), `${at}: ${s.slice(0, 50)}`);
        if (key !== null && !holders.has(key)) holders.set(key, `r${at}`);
      }
      const keyed = texts.filter((s) => uniqueKey(form as UniqueForm, s) !== null);
      const found = await store.reader.findByKey(
        table(className),
        index(className),
        keyed.map((s) => [s]),
      );
      for (const [at, s] of keyed.entries())
        assert.equal(found[at]?.objectId, holders.get(uniqueKey(form as UniqueForm, s)), s.slice(0, 50));
    });

  test('unique: one wins of many in a turn, and the others fail alone', async () => {
    const className = await tableWith({ s: 'String', n: 'Number' }, []);
    await setUnique(className, ['s'], 'nocase');
    const writes = Array.from({ length: 40 }, (_, at) => write(insert(className, `r${at}`, { s: at % 2 ? 'Key' : 'kEY' })));
    const more = Array.from({ length: 20 }, (_, at) => write(insert(className, `m${at}`, { s: `m${at % 15}`, n: at })));
    const results = await Promise.allSettled([...writes, ...more]);
    const won = results.flatMap(({ status }, at) => (status === 'fulfilled' ? [at] : []));
    assert.deepEqual(won, [0, ...Array.from({ length: 15 }, (_, at) => 40 + at)]);
    for (const result of results)
      if (result.status === 'rejected') assert.ok(refused(className)(result.reason), String(result.reason));
  });

  test('unique: updates, increments and several steps of a write', async () => {
    const className = await tableWith({ s: 'String', n: 'Number' }, [{ s: 'a', n: 1 }, { s: 'b', n: 2 }, { s: '' }, {}]);
    await setUnique(className, ['s']);
    await setUnique(className, ['n'], undefined, 'two');
    await assert.rejects(write(update(className, 'r1', { s: 'a' })), refused(className));
    const one = { kind: 'increment', field: table(className).fields.get('n'), amount: 1 } as const;
    const grow = { ...update(className, 'r0', {}), assignments: [one] } as Mutation;
    await assert.rejects(write(grow), refused(className, 'two'));
    await assert.rejects(write(insert(className, 'r9', { s: 'c' }), update(className, 'r3', { s: 'c' })), refused(className));
    // In order: a value that one write frees is free for the next of the turn.
    await Promise.all([
      write(update(className, 'r0', { s: 'z' })),
      write(insert(className, 'r10', { s: 'a' })),
      write(update(className, 'r1', { s: null })),
      write(update(className, 'r3', { s: 'b' })),
      write(update(className, 'r2', { s: null })),
    ]);
    const keys = ['a', 'b', 'c', 'z'].map((s) => [s]);
    const found = await store.reader.findByKey(table(className), index(className), keys);
    assert.deepEqual(
      found.map((one) => one?.objectId),
      ['r10', 'r3', undefined, 'r0'],
    );
    await assert.rejects(write(insert(className, 'r10', { s: 'new' })), { key: 'duplicateValue' });
  });

  test('unique: a combination of fields of each type, of which none is absent', async () => {
    const fields = { p: 'Pointer:Keyed1', d: 'Date', y: 'Boolean', n: 'Number', h: 'HTML/XML' };
    const full = { p: 'x', d: 5, y: false, n: -0.5, h: '<a>' };
    const className = await tableWith(fields, [full, { ...full, y: true }, { ...full, h: null }, { ...full, h: null }]);
    await setUnique(className, Object.keys(fields));
    await assert.rejects(write(insert(className, 'a', full)), refused(className));
    await write(insert(className, 'b', { ...full, h: '' }), insert(className, 'c', { ...full, d: 6 }));
    const keys = [full, { ...full, y: true }, { ...full, n: 7 }].map((one) => Object.values(one));
    const found = await store.reader.findByKey(table(className), index(className), keys);
    assert.deepEqual(
      found.map((one) => one?.objectId),
      ['r0', 'r1', undefined],
    );
  });

  test('unique: an index that records contradict is not made, and what contradicts it is listed', async () => {
    const rows = Array.from({ length: 64 }, (_, at) => ({ s: `v${at % 30}`, n: at < 3 ? 1 : at }));
    const className = await tableWith({ s: 'String', n: 'Number', d: 'Date', p: 'Pointer:Keyed1' }, rows);
    await assert.rejects(setUnique(className, ['s']), (error: unknown) => {
      const { code, details } = error as { code: number; details: { count: number; duplicates: { value: string }[] } };
      const { count, duplicates } = details;
      assert.deepEqual([code, count, duplicates.length], [137, 30, 20]);
      assert.deepEqual(duplicates[0], { value: 'v0', objectIds: ['r0', 'r30', 'r60'] });
      assert.deepEqual(duplicates[19], { value: 'v19', objectIds: ['r19', 'r49'] });
      return true;
    });
    assert.equal(table(className).uniqueIndexes.size, 0);
    await write(
      update(className, 'r0', { d: 1_000, p: 'x', s: 'l'.repeat(300) }),
      update(className, 'r1', { d: 1_000, p: 'x', s: 'l'.repeat(300) }),
    );
    await assert.rejects(setUnique(className, ['d', 'p', 's', 'n']), (error: unknown) => {
      const { details } = error as { details: Record<string, unknown> };
      const value = [
        { __type: 'Date', iso: '1970-01-01T00:00:01.000Z' },
        { __type: 'Pointer', className: 'Keyed1', objectId: 'x' },
        `${'l'.repeat(200)}…`,
        1,
      ];
      assert.deepEqual(details, { count: 1, duplicates: [{ value, objectIds: ['r0', 'r1'] }] });
      return true;
    });
    await write(insert(className, 'free', { s: 'v1' }));
    await write(update(className, 'r1', { d: null }));
    await setUnique(className, ['n', 'd']);
  });

  test('unique: it goes with its fields or by itself, and another can take its name', async () => {
    const className = await tableWith({ s: 'String', n: 'Number', m: 'Number' }, [{ s: 'a', n: 1, m: 1 }]);
    await setUnique(className, ['s', 'n']);
    await setUnique(className, ['m'], undefined, 'two');
    const [before, gone] = [table(className), index(className)];
    await change({ kind: 'dropField', className, name: 'n' });
    await write(insert(className, 'b', { s: 'a' }));
    await assert.rejects(store.reader.findByKey(before, gone, [['a', 1]]), SchemaChanged);
    await change({ kind: 'dropUniqueIndex', className, name: 'two' });
    await write(insert(className, 'c', { m: 1 }));
    await change({ kind: 'renameField', className, name: 's', to: 't' });
    await assert.rejects(setUnique(className, ['t']), { key: 'contradictedIndex' });
    await write(update(className, 'b', { t: 'b' }));
    await setUnique(className, ['t'], 'nocase', 'two');
    await change({ kind: 'renameField', className, name: 't', to: 'u' });
    await assert.rejects(write(insert(className, 'd', { u: 'B' })), refused(className, 'two'));
    // Many fields at once make the embedded engine copy the table.
    const many = Array.from(
      { length: 80 },
      (_, at): SchemaChange => ({ kind: 'addField', className, name: `f${at}`, type: 'String' }),
    );
    await change(...many);
    await assert.rejects(write(insert(className, 'd', { u: 'B' })), refused(className, 'two'));
  });

  test('required: refused while records lack it, and then kept', async () => {
    const rows = Array.from({ length: 9 }, (_, at) => ({ s: at === 0 ? 'x' : at % 2 ? null : '', n: at }));
    const className = await tableWith({ s: 'String', n: 'Number' }, rows);
    const demand = (name: string) => change({ kind: 'setFieldOptions', className, name, options: { required: true } });
    await assert.rejects(demand('s'), (error: unknown) => {
      const { code, details } = error as { code: number; details: unknown };
      assert.deepEqual([code, details], [142, { count: 8, objectIds: ['r1', 'r2', 'r3', 'r4', 'r5'] }]);
      return true;
    });
    await demand('n');
    await assert.rejects(change({ kind: 'addField', className, name: 'new', type: 'Date', required: true }), { code: 142 });
    assert.deepEqual(
      [...table(className).fields.values()].filter(({ required }) => required).map(({ name }) => name),
      ['n'],
    );
    await change({ kind: 'createTable', className: `${className}New`, fields: [{ name: 's', type: 'String', required: true }] });
  });
}
