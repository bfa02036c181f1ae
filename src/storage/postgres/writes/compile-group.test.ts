import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyChange, emptySchema, type SchemaChange } from '../../../schema/change.ts';
import { fieldOf, type Schema, tableOf } from '../../../schema/model.ts';
import type { Mutation, WritePlan } from '../../port.ts';
import { rowContext } from '../../sql/testing/addresses.ts';
import { postgresDialect } from '../sql/dialect.ts';
import { compileGroup } from './compile-group.ts';

const changes: SchemaChange[] = [
  { kind: 'createTable', className: 'A' },
  { kind: 'addField', className: 'A', name: 'n', type: 'Number' },
  { kind: 'addField', className: 'A', name: 'list', type: 'Array' },
  { kind: 'createTable', className: 'B' },
  { kind: 'createTable', className: '_Role' },
  { kind: 'createTable', className: '_Log' },
  { kind: 'addField', className: '_Log', name: 'record', type: 'String' },
  { kind: 'addField', className: '_Log', name: 'Last', type: 'Boolean' },
  { kind: 'addField', className: '_Log', name: 'n', type: 'Number' },
];
const schema: Schema = changes.reduce(applyChange, emptySchema);
const context = { dialect: postgresDialect('rds_x'), isCoordinator: false, ...rowContext };

type Insert = Extract<Mutation, { kind: 'insert' }>;

const insert = (className: string, objectId: string, more: Record<string, string | number> = {}): Mutation => {
  const table = tableOf(schema, className);
  const values = Object.entries({ objectId, createdAt: 1, updatedAt: 1, ...more });
  return { kind: 'insert', table, values: values.map(([name, value]) => [fieldOf(table, name), value]) };
};
const update = (className: string, objectId: string): Mutation => {
  const table = tableOf(schema, className);
  const field = fieldOf(table, 'updatedAt');
  return { kind: 'update', table, objectId, guard: null, assignments: [{ kind: 'set', field, value: 2 }], returning: [] };
};
const remove = (className: string, objectId: string): Mutation => ({
  kind: 'delete',
  table: tableOf(schema, className),
  objectId,
  guard: null,
});

/** Returns which writes share a statement, in the order of the statements. */
const order = (...writes: (Mutation | Mutation[])[]) => {
  const plans = writes.map((mutations): WritePlan => ({ changes: [], mutations: [mutations].flat() }));
  return compileGroup(plans, schema, context)
    .map((unit) => unit.writes.join('+'))
    .join(' ');
};

test('inserts of one table and shape are one statement, those of other tables may stand between', () => {
  assert.equal(order(insert('A', '1'), insert('B', '1'), insert('A', '2'), insert('B', '2')), '0+2 1+3');
});

test('another shape of a table begins another statement, so that records keep the order of their creation', () => {
  assert.equal(order(insert('A', '1'), insert('A', '2', { n: 1 }), insert('A', '3'), insert('A', '4')), '0 1 2+3');
});

test('updates come in the order of their records, those of one record in the order in which they came', () => {
  assert.equal(order(update('B', '1'), update('A', '2'), update('A', '1'), update('A', '2')), '2 1 3 0');
});

test('a record is made before it is changed; one that is changed first is not made before', () => {
  assert.equal(order(insert('A', '1'), update('A', '1'), insert('A', '2'), update('A', '0')), '0+2 3 1');
  assert.equal(order(update('A', '1'), insert('A', '1'), insert('A', '2')), '0 1+2');
});

test('an id that comes twice is not in one statement with itself', () => {
  assert.equal(order(insert('A', '1'), insert('A', '1', { n: 1 }), insert('A', '2')), '0 1 2');
});

test('nothing changes places with deletes, writes of several steps, and tables with unique values', () => {
  assert.equal(order(update('A', '2'), remove('A', '1'), update('A', '1')), '0 1 2');
  assert.equal(order(update('A', '2'), [update('A', '1'), update('A', '0')], update('A', '1')), '0 1 2');
  assert.equal(order(update('_Role', '2'), update('_Role', '1'), insert('_Role', '3')), '0 1 2');
});

const note = (objectId: string): Mutation => ({ ...(insert('_Log', objectId) as Insert), isNote: true });
const unmark: Mutation = {
  kind: 'unmark',
  table: tableOf(schema, '_Log'),
  holding: [[fieldOf(tableOf(schema, '_Log'), 'record'), '1']],
  mark: fieldOf(tableOf(schema, '_Log'), 'Last'),
};

test('what tells of a write goes along with it, and changes places with it', () => {
  assert.equal(order([insert('A', '1'), note('x')], [insert('A', '2'), note('y')], insert('A', '3')), '0+1 2');
  assert.equal(order([update('A', '2'), unmark, note('x')], [update('A', '1'), unmark, note('y')], update('A', '0')), '2 1 0');
  assert.equal(order([insert('A', '1'), note('x')], [insert('A', '1'), note('y')]), '0 1');
  assert.equal(order([insert('A', '1'), insert('B', '1')], [insert('A', '2'), insert('B', '2')]), '0 1');
});

test('a write and what tells of it are one statement, so that it fails alone', () => {
  const table = tableOf(schema, 'A');
  const about = { from: table, objectId: '1' };
  const copy = { kind: 'copy', ...about, fields: [[fieldOf(tableOf(schema, '_Log'), 'n'), fieldOf(table, 'n')]] } as const;
  const statementsOf = (mutations: Mutation[]) =>
    compileGroup([{ changes: [], mutations }], schema, context).flatMap(({ statements }) => statements.map(({ text }) => text));
  const copying: Mutation = { ...(note('x') as Insert), source: copy };
  const snapshot = {
    kind: 'snapshot',
    ...about,
    fields: [...table.fields.values()],
    to: fieldOf(tableOf(schema, '_Log'), 'record'),
  } as const;
  const withSnapshot: Mutation = { ...(note('y') as Insert), source: snapshot };
  for (const [mutations, returns] of [
    [[update('A', '1'), unmark, note('x')], ' SELECT u0 FROM u'],
    [[update('A', '1'), unmark, copying], ' SELECT u0 FROM u'],
    [[update('A', '1'), unmark, withSnapshot], ' SELECT u0 FROM u'],
    [[remove('A', '1'), unmark, note('x')], ' SELECT (SELECT at FROM pointing), (SELECT count(*) FROM gone)'],
  ] as const) {
    const [text, ...others] = statementsOf([...mutations]);
    assert.ok(text?.endsWith(returns) && others.length === 0, text);
  }
  // A copy or snapshot of another record, or beside a step that may fail: separate statements.
  assert.equal(statementsOf([update('A', '2'), copying]).length, 2);
  assert.equal(statementsOf([update('A', '2'), withSnapshot]).length, 2);
  assert.equal(statementsOf([insert('A', '1'), withSnapshot]).length, 2);
  assert.equal(statementsOf([update('A', '1'), update('A', '2'), note('x')]).length, 3);
});

test('many rows are one parameter for each column, whatever is in them', () => {
  const rows = ['a"b', 'c\\d', 'NULL', ''].map((objectId) => insert('A', objectId, { n: 1.5, list: '["\\""]' }));
  const [unit] = compileGroup(
    rows.map((mutation) => ({ changes: [], mutations: [mutation] })),
    schema,
    context,
  );
  assert.deepEqual(unit?.statements[0]?.params, [
    '{"a\\"b","c\\\\d","NULL",""}',
    '{1,1,1,1}',
    '{1,1,1,1}',
    '{1.5,1.5,1.5,1.5}',
    `{${Array(4).fill('"[\\"\\\\\\"\\"]"').join(',')}}`,
  ]);
});
