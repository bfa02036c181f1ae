import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Filter, JsonOperand, OrderKey, Regex } from '../../../query/model/filter.ts';
import { writeWhere } from '../../sql/filter.ts';
import { compileUnmark } from '../../sql/mutation.ts';
import { writeOrder } from '../../sql/select.ts';
import { SqlWriter } from '../../sql/sql-writer.ts';
import { PostgresTables } from '../testing/tables.ts';
import { compileMutation } from '../writes/compile-mutation.ts';

const tables = await PostgresTables.create();
after(() => tables.close());
await tables.make('Team', { name: 'String', members: 'Relation:T' });
await tables.make('T', { text: 'String', num: 'Number', day: 'Date', team: 'Pointer:Team', arr: 'Array', obj: 'Object' });
await tables.make('Order', { status: 'Pointer:Team' });
await tables.make('Accounts', { Email: 'String', _phone_key: 'String' });
await tables.change({ kind: 'setIndex', className: 'Accounts', index: { name: 'byEmail', keys: [['Email', 1]] } });
await tables.make('_Timeline', { objectIdValue: 'String', objectClass: 'String', Last: 'Boolean', data: 'Object' });
const newestFirst = [
  ['objectIdValue', 1],
  ['createdAt', -1],
] as const;
await tables.change({ kind: 'setIndex', className: '_Timeline', index: { name: 'byRecord', keys: newestFirst } });
for (const name of ['text', 'num', 'day'])
  await tables.change({ kind: 'setIndex', className: 'T', index: { name, keys: [[name, 1]] } });

const RECORDS = 20_000;
const columns = '"objectId", "createdAt", "updatedAt"';
const pointer = `json_build_object('__type', 'Pointer', 'className', 'Team', 'objectId', 't' || n % 2000)`;
for (const text of [
  `INSERT INTO ${tables.dialect.table(tables.table('Team').sqlName)} (${columns}, name) SELECT 't' || n, n, n, 'n' || n FROM generate_series(1, 2000) AS n`,
  `INSERT INTO ${tables.dialect.table(tables.table('T').sqlName)} (${columns}, text, num, day, team, "createdBy", arr, obj)` +
    ` SELECT 'r' || n, n, n, 'x' || n, n % 5000, n, 't' || n % 2000, CASE WHEN n % 9 = 0 THEN 'u' || n % 500 ELSE 'master' END,` +
    ` json_build_array(n % 1000, 'tag' || n % 500, ${pointer}), json_build_object('n', n % 3000, 'list', json_build_array('p' || n % 2500), 'to', ${pointer})` +
    ` FROM generate_series(1, ${RECORDS}) AS n`,
  // Few records are pointed at, and by many.
  `INSERT INTO ${tables.dialect.table(tables.table('Order').sqlName)} (${columns}, status)` +
    ` SELECT 'o' || n, n, n, 't' || n % 2 FROM generate_series(1, ${RECORDS}) AS n`,
  // Some records share a value.
  `INSERT INTO ${tables.dialect.table(tables.table('Accounts').sqlName)} (${columns}, "Email", _phone_key)` +
    ` SELECT 'a' || n, n, n, n % 500, n % 500 FROM generate_series(1, ${RECORDS}) AS n`,
  // Some records have many rows.
  `INSERT INTO ${tables.dialect.table(tables.table('_Timeline').sqlName)} (${columns}, "objectIdValue", "objectClass", "Last")` +
    ` SELECT 'l' || n, n, n, CASE WHEN n % 3 = 0 THEN 'r1' ELSE 'r' || n END, 'T', true FROM generate_series(1, ${RECORDS}) AS n`,
  'VACUUM ANALYZE',
])
  await tables.run({ text, params: [] });

const field = (name: string) => tables.field('T', name);
const ref = (path: string) => tables.ref('T', path);
const literal = (text: string, at: 'start' | 'whole'): Regex => ({
  kind: 'pattern',
  pattern: '',
  options: '',
  literal: { text, at },
});
const s = (value: string): JsonOperand => ({ kind: 'string', value });
const to: JsonOperand = { kind: 'pointer', className: 'Team', objectId: 't7' };
const n: JsonOperand = { kind: 'number', value: 7 };
const has = (kind: 'hasAny' | 'hasAll', path: string, ...operands: JsonOperand[]): Filter => ({ kind, ref: ref(path), operands });
const place = (path: string, operand: JsonOperand): Filter => ({ kind: 'jsonCompare', ref: ref(path), op: 'eq', operand });
const named = {
  table: tables.table('Team'),
  filter: { kind: 'compare', field: tables.field('Team', 'name'), op: 'eq', value: 'n7' },
} as const;
const guard: Filter = { kind: 'guard', table: tables.table('T'), guard: { kind: 'acl', right: 'read', identities: ['*', 'u1'] } };
const holdsUser: Filter = {
  kind: 'guard',
  table: tables.table('T'),
  guard: { kind: 'userFields', fields: ['arr'], userId: 'u1' },
};

const indexed: [name: string, filter: Filter, index: string][] = [
  ['eq', { kind: 'compare', field: field('text'), op: 'eq', value: 'x7' }, 'i~t_T~text'],
  ['a range', { kind: 'compare', field: field('num'), op: 'gt', value: 4990 }, 'i~t_T~num'],
  ['in', { kind: 'in', field: field('text'), values: ['x7', 'x8'] }, 'i~t_T~text'],
  ['in on numbers', { kind: 'in', field: field('num'), values: [7, 8] }, 'i~t_T~num'],
  ['in on dates', { kind: 'in', field: field('day'), values: [7, 8] }, 'i~t_T~day'],
  ['a prefix', { kind: 'regex', ref: ref('text'), regex: literal('x777', 'start') }, 'i~t_T~text'],
  ['a whole text', { kind: 'regex', ref: ref('text'), regex: literal('x7', 'whole') }, 'i~t_T~text'],
  ['a Pointer', { kind: 'compare', field: field('team'), op: 'eq', value: 't7' }, 'f~t_T~team'],
  ['createdBy', { kind: 'compare', field: field('createdBy'), op: 'eq', value: 'u9' }, 'f~t_T~createdBy'],
  ['createdBy in', { kind: 'in', field: field('createdBy'), values: ['u9', 'u18'] }, 'f~t_T~createdBy'],
  ['inQuery', { kind: 'inQuery', ref: ref('team'), target: named }, 'f~t_T~team'],
  ['an element', has('hasAny', 'arr', s('tag7')), 'f~t_T~arr'],
  ['an element that is a Pointer', has('hasAny', 'arr', to), 'f~t_T~arr'],
  ['any of some elements', has('hasAny', 'arr', s('tag7'), n, to), 'f~t_T~arr'],
  ['all of some elements', has('hasAll', 'arr', s('tag7'), n), 'f~t_T~arr'],
  [
    'all of some elements, objects among them',
    has('hasAll', 'arr', s('tag7'), { kind: 'json', canonical: '{"a":1}' }),
    'f~t_T~arr',
  ],
  ['a place', place('obj.n', n), 'f~t_T~obj'],
  ['a Pointer at a place', place('obj.to', to), 'f~t_T~obj'],
  ['equal content at a place', place('obj.list', { kind: 'json', canonical: '["p7"]' }), 'f~t_T~obj'],
  [
    'a place or an element there',
    { kind: 'or', items: [place('obj.list', s('p7')), has('hasAny', 'obj.list', s('p7'))] },
    'f~t_T~obj',
  ],
  ['a place, of records that the caller may see', { kind: 'and', items: [guard, place('obj.n', n)] }, 'f~t_T~obj'],
  ['an Array that holds the user', holdsUser, 'f~t_T~arr'],
];

for (const [name, filter, index] of indexed)
  test(`an index answers ${name}`, async () => {
    const plan = await planOf(filter, [], undefined);
    assert.match(plan, new RegExp(`"${index}"`));
    assert.doesNotMatch(plan, /Seq Scan on "t_T"/);
  });

const by = (name: string, descending = false): OrderKey => ({ kind: 'field', ref: ref(name), descending });
const sorted: [name: string, order: OrderKey[], index: string][] = [
  ['creation', [], 'q~t_T'],
  ['a field', [by('num'), by('objectId')], 'i~t_T~num'],
  ['a field, descending', [by('num', true), by('objectId')], 'i~t_T~num'],
  ['createdAt', [by('createdAt'), by('objectId')], 'f~t_T~createdAt'],
  ['createdAt, descending', [by('createdAt', true), by('objectId')], 'f~t_T~createdAt'],
  ['objectId', [by('objectId')], 'u~t_T'],
  ['objectId, descending', [by('objectId', true)], 'u~t_T'],
];

for (const [name, order, index] of sorted)
  test(`an index gives the order of ${name}`, async () => {
    const plan = await planOf({ kind: 'always' }, order, 20);
    assert.match(plan, new RegExp(`using "${index}"`));
    // Records with equal values come by objectId in the other direction; these few are sorted.
    assert.doesNotMatch(plan, /^ *(?:-> +)?Sort$/m);
  });

function planOf(filter: Filter, order: readonly OrderKey[], limit: number | undefined, className = 'T'): Promise<string> {
  const out = new SqlWriter(tables.dialect).add('SELECT t.* FROM ').table(tables.table(className).sqlName).add(' AS t');
  writeWhere(out, filter, 't');
  if (limit !== undefined) {
    writeOrder(out.add(' ORDER BY '), order, filter, 't');
    out.add(' LIMIT ').bind(limit);
  }
  return tables.plan(out.statement());
}

for (const [name, order, index] of [
  ['_phone_key', [], 'f~t_Accounts~_phone_key'],
  ['Email', [{ kind: 'field', ref: tables.ref('Accounts', 'objectId'), descending: false }], 'i~t_Accounts~byEmail'],
] as const)
  test(`one step into an index finds the first of the accounts with a ${name}`, async () => {
    for (const value of ['1', 'nobody']) {
      const filter: Filter = { kind: 'compare', field: tables.field('Accounts', name), op: 'eq', value };
      assert.match(
        await planOf(filter, order, 1, 'Accounts'),
        new RegExp(`^Limit\\n  ->  Index Scan using "${index}" on "t_Accounts" t\\n +Index Cond: [^\\n]*$`),
      );
    }
  });

test('the index of a field that records are looked up by goes with the field, and comes with it', async () => {
  const change = { className: 'Accounts', name: '_phone_key' };
  await tables.change({ kind: 'dropField', ...change });
  await tables.change({ kind: 'addField', ...change, type: 'String' });
  const indexes = await tables.run({
    text: "SELECT indexdef FROM pg_indexes WHERE indexname = 'f~t_Accounts~_phone_key'",
    params: [],
  });
  assert.match(String(indexes), /\(_phone_key, _seq\) WHERE \(_phone_key IS NOT NULL\)$/);
});

test('the mark of a newest row is found by an index that ends in the time, whatever the number of rows', async () => {
  const [id, className] = [tables.field('_Timeline', 'objectIdValue'), tables.field('_Timeline', 'objectClass')];
  for (const record of ['r1', 'r2', 'nobody']) {
    const holding = [
      [id, record],
      [className, 'T'],
    ] as const;
    const mark = tables.field('_Timeline', 'Last');
    const plan = await tables.plan(
      compileUnmark({ kind: 'unmark', table: tables.table('_Timeline'), holding, mark }, tables.dialect),
    );
    for (const step of ['Incremental Sort', 'Presorted Key: m."objectIdValue", m."createdAt"', 'i~t__Timeline~byRecord'])
      assert.ok(plan.includes(step), plan);
    assert.doesNotMatch(plan, /Seq Scan/);
  }
});

test('a delete looks by their indexes for records that point at its record, however many point at others', async () => {
  const mutation = { kind: 'delete', table: tables.table('Team'), objectId: 't7', guard: null } as const;
  const [statement] = compileMutation(
    mutation,
    tables.schema,
    { dialect: tables.dialect, isCoordinator: false } as never,
    false,
  ).statements;
  // Prepared statements of deletes are planned for any id.
  await tables.run({ text: 'SET plan_cache_mode = force_generic_plan', params: [] });
  await tables.run({ text: `PREPARE remove (text) AS ${statement?.text}`, params: [] });
  const plan = String(await tables.run({ text: "EXPLAIN EXECUTE remove('t7')", params: [] }));
  for (const index of ['f~t_Order~status', 'f~t_T~team']) assert.ok(plan.includes(`"${index}"`), plan);
  assert.doesNotMatch(plan, /Seq Scan on "t_(Order|T)"/);
  await tables.run({ text: 'DEALLOCATE remove', params: [] });
  await tables.run({ text: 'RESET plan_cache_mode', params: [] });
});

test('a log takes a row for each write: what its rows hold has no index', async () => {
  const text = "SELECT count(*) FROM pg_indexes WHERE indexname = 'f~t__Timeline~data'";
  assert.deepEqual(await tables.run({ text, params: [] }), [[0]]);
});

test('a query that lists what is left out is gone through once, however much it finds', async () => {
  const many = { table: tables.table('T'), filter: { kind: 'always' } } as const;
  const away: Filter = { kind: 'not', item: { kind: 'select', ref: ref('text'), target: many, key: ref('text') } };
  assert.match(await planOf(away, [], undefined), /hashed SubPlan/);
});
