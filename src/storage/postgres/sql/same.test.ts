import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import type { JsonValue } from '../../../kernel/json.ts';
import type { FieldRef, Filter } from '../../../query/model/filter.ts';
import { jsonOperand } from '../../../query/where/context.ts';
import { compileUpdate } from '../../sql/mutation.ts';
import type { EngineTables } from '../../sql/testing/tables.ts';
import { TestTables } from '../../sqlite/testing/tables.ts';
import { PostgresTables } from '../testing/tables.ts';

/** Compares random filters and orders over JSON of every shape on both engines. */
const postgres = await PostgresTables.create();
after(() => postgres.close());
const engines: readonly EngineTables[] = [new TestTables(), postgres];

const iso = fc.constantFrom(
  '2024-01-01T00:00:00.000Z',
  '2024-01-01T01:00+01:00',
  '2024-01-01',
  '1969-12-31T23:59:59.9999',
  '2023-02-29',
  '+123456-01-01T24:00',
  '',
  'x',
);
const text = fc.constantFrom('', 'a', 'b', 'ab', 'Ab', 'é', 'a"\\\n', '😀', '\ufffd', '1', 'true', 'null', '[]', '-1', '__type');
const number = fc.constantFrom(0, 1, -1, 1.5, -1.5, 2 ** 53, 2 ** 53 + 2, 1e21, 1e300, 5e-324, 0.1, 10);
const label = fc.constantFrom('a', 'b', '0', '1', '00', '-1', '+1', ' 1', '1 ', '9999999999', 'é"\\', '__type', 'iso');
const scalar = fc.oneof(text, number, fc.boolean(), fc.constant(null));
const wrapper = fc.oneof(
  fc.record({ __type: fc.constant('Date'), iso: fc.oneof(iso, iso, text, fc.constantFrom(5, true, null)) }),
  fc.record({
    __type: fc.constant('Pointer'),
    className: fc.constantFrom('T', 'U'),
    objectId: fc.constantFrom('r1', 'r2', 'zz'),
  }),
);
const value = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    wrapper,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(label, tie('value'), { maxKeys: 4 }),
  ),
})).value as fc.Arbitrary<JsonValue>;

const RECORDS = 150;
const records = fc.sample(
  fc.record({ arr: fc.array(value, { maxLength: 4 }), obj: fc.dictionary(label, value, { maxKeys: 4 }) }),
  { numRuns: RECORDS, seed: 20240101 },
);

for (const tables of engines) {
  await tables.make('T', {
    arr: 'Array',
    obj: 'Object',
    num: 'Number',
    day: 'Date',
    text: 'String',
    to: 'Pointer:T',
    rel: 'Relation:T',
  });
  const table = tables.table('T');
  for (const [at, { arr, obj }] of records.entries()) {
    const objectId = `r${at}`;
    const plain = {
      num: (at % 7) - 1.5,
      text: ['a', 'ab', 'é', '1'][at % 4] as string,
      to: { __type: 'Pointer', className: 'T', objectId: `r${at % 5}` },
    };
    await tables.add('T', {
      objectId,
      ...(at % 3 === 0 ? plain : {}),
      ...(at % 4 === 0 ? { day: { __type: 'Date', iso: '2024-01-01T00:00:00.000Z' } } : {}),
    });
    // Bypasses the checks of values, which reject malformed Dates.
    const assignments = (['arr', 'obj'] as const).map((name) => ({
      kind: 'set' as const,
      field: tables.field('T', name),
      value: JSON.stringify(name === 'arr' ? arr : obj),
    }));
    await tables.run(
      compileUpdate({ kind: 'update', table, objectId, assignments, guard: null, returning: [] } as never, tables.dialect),
    );
  }
}

const path = fc.tuple(fc.constantFrom('arr', 'obj'), fc.array(label, { maxLength: 3 }));
const inside = fc.tuple(fc.constantFrom('arr', 'obj'), fc.array(label, { minLength: 1, maxLength: 3 }));
type Place = readonly [name: string, path: string[]];
type Made = (tables: EngineTables) => Filter;
const refOf = (tables: EngineTables, [name, labels]: Place): FieldRef => ({ field: tables.field('T', name), path: labels });

const operand = value.map(jsonOperand);
const ordered = fc
  .oneof(text, number, fc.record({ __type: fc.constant('Date'), iso: fc.constant('2024-01-01') }))
  .map(jsonOperand);
const literal = fc.record({ text: fc.constantFrom('a', 'é', '"'), at: fc.constantFrom('start', 'end', 'anywhere', 'whole') });
const everything = (tables: EngineTables) => ({ table: tables.table('T'), filter: { kind: 'always' } as const });

const leaf: fc.Arbitrary<Made> = fc.oneof(
  inside.map(
    (at): Made =>
      (tables) => ({ kind: 'exists', ref: refOf(tables, at) }),
  ),
  fc.tuple(path, fc.oneof(operand, ordered), fc.constantFrom('eq', 'eq', 'lt', 'lte', 'gt', 'gte')).map(
    ([at, one, op]): Made =>
      (tables) =>
        ({ kind: 'jsonCompare', ref: refOf(tables, at), op, operand: one }) as Filter,
  ),
  fc.tuple(path, fc.array(operand, { maxLength: 5 }), fc.constantFrom('hasAny', 'hasAll', 'hasOnly')).map(
    ([at, operands, kind]): Made =>
      (tables) =>
        ({ kind, ref: refOf(tables, at), operands }) as Filter,
  ),
  fc.tuple(path, fc.array(scalar, { minLength: 1, maxLength: 20 })).map(
    ([at, values]): Made =>
      (tables) => ({ kind: 'hasAny', ref: refOf(tables, at), operands: values.map(jsonOperand) }),
  ),
  fc.tuple(path, ordered, fc.constantFrom('lt', 'lte', 'gt', 'gte')).map(
    ([at, one, op]): Made =>
      (tables) =>
        ({ kind: 'hasOrdered', ref: refOf(tables, at), op, operand: one }) as Filter,
  ),
  fc.tuple(path, literal).map(
    ([at, found]): Made =>
      (tables) =>
        ({
          kind: 'regex',
          ref: refOf(tables, at),
          regex: { kind: 'pattern', pattern: 'x', options: '', literal: found },
        }) as Filter,
  ),
  inside.map(
    (at): Made =>
      (tables) => ({ kind: 'inQuery', ref: refOf(tables, at), target: everything(tables) }),
  ),
  fc
    .tuple(
      inside,
      fc.oneof(
        inside,
        fc.constantFrom('num', 'text', 'day', 'to').map((name): Place => [name, []]),
      ),
    )
    .map(
      ([at, key]): Made =>
        (tables) => ({ kind: 'select', ref: refOf(tables, at), target: everything(tables), key: refOf(tables, key as Place) }),
    ),
);
const filter = fc.letrec<{ filter: Made }>((tie) => ({
  filter: fc.oneof(
    { depthSize: 'xsmall' },
    leaf,
    leaf,
    tie('filter').map(
      (item): Made =>
        (tables) => ({ kind: 'not', item: item(tables) }),
    ),
    fc.tuple(fc.constantFrom('and', 'or'), fc.array(tie('filter'), { minLength: 2, maxLength: 3 })).map(
      ([kind, items]): Made =>
        (tables) =>
          ({ kind, items: items.map((item) => item(tables)) }) as Filter,
    ),
  ),
})).filter;

test('both engines find the same records in the same order', async () => {
  const order = fc.tuple(path, fc.boolean());
  await fc.assert(
    fc.asyncProperty(filter, order, async (made, [at, descending]) => {
      const [first, second] = await Promise.all(
        engines.map((tables) => {
          const objectId = { kind: 'field', ref: refOf(tables, ['objectId', []]), descending: false } as const;
          return tables.ids('T', made(tables), [{ kind: 'field', ref: refOf(tables, at), descending }, objectId]);
        }),
      );
      assert.equal(second, first, JSON.stringify(made(engines[0] as EngineTables)));
    }),
    { numRuns: 300 },
  );
});
