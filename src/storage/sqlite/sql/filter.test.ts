import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RowGuard } from '../../../access/index.ts';
import type { Filter, JsonOperand, Regex } from '../../../query/filter.ts';
import { TestTables } from '../testing/tables.ts';

const pointer = (className: string, objectId: string) => ({ __type: 'Pointer', className, objectId });
const date = (iso: string) => ({ __type: 'Date', iso });

const tables = new TestTables();
tables.define('Team', { name: 'String', size: 'Number', members: 'Relation:T' });
tables.define('T', {
  text: 'String',
  num: 'Number',
  flag: 'Boolean',
  day: 'Date',
  team: 'Pointer:Team',
  arr: 'Array',
  obj: 'Object',
  file: 'File',
  users: 'Array',
  owner: 'Pointer:_User',
});
tables.insert('Team', { objectId: 'red', name: 'abc', size: 3 });
tables.insert('Team', { objectId: 'blue', name: 'Zoë', size: 5, ACL: { u1: { read: true } } });
tables.connection.db.exec(`INSERT INTO "j_Team~members" VALUES ('red', 'a'), ('red', 'b'), ('blue', 'c')`);

tables.insert('T', {
  objectId: 'a',
  text: 'abc',
  num: 5,
  flag: true,
  day: date('2024-01-02T03:04:05.000Z'),
  team: pointer('Team', 'red'),
  arr: [1, 'x', true, pointer('Team', 'red'), date('2024-01-01T00:00:00.000Z')],
  obj: { n: 1, s: 'abc', b: true, list: ['p', 'q'], deep: { 'k y"\\': 'odd' }, when: date('2024-01-01T01:00:00+01:00') },
  users: [pointer('_User', 'u1')],
  createdBy: pointer('_User', 'u1'),
});
tables.insert('T', {
  objectId: 'b',
  text: 'abd%',
  num: -1.5,
  flag: false,
  team: pointer('Team', 'blue'),
  arr: [1.5, '1', false, { k: [1, 2], j: 'x' }, ['x']],
  obj: { n: '1', s: 5, b: 1, 0: 'zero', list: [{ z: 7 }], to: pointer('Team', 'red'), nil: null },
  ACL: { 'role:R': { read: true, write: true }, u2: { read: true } },
  owner: pointer('_User', 'u1'),
  createdBy: pointer('_User', 'master'),
});
tables.insert('T', {
  objectId: 'c',
  text: 'ABC',
  arr: [],
  obj: { odd: ['é "q" \\ \n\u2028/'] },
  ACL: {},
  team: pointer('Team', 'gone'),
});
tables.insert('T', { objectId: 'd' });

const ref = (path: string) => tables.ref('T', path);
const field = (name: string) => tables.field('T', name);
const s = (value: string): JsonOperand => ({ kind: 'string', value });
const n = (value: number): JsonOperand => ({ kind: 'number', value });
const b = (value: boolean): JsonOperand => ({ kind: 'boolean', value });
const json = (canonical: string): JsonOperand => ({ kind: 'json', canonical });
const to = (objectId: string, className = 'Team'): JsonOperand => ({ kind: 'pointer', className, objectId });
const at = (iso: string): JsonOperand => ({ kind: 'date', iso });
const re = (pattern: string, options = '', literal?: Regex['literal']): Regex => ({
  kind: 'pattern',
  pattern,
  options,
  ...(literal ? { literal } : {}),
});
const literal = (text: string, place: 'start' | 'end' | 'anywhere' | 'whole') => re('unused', '', { text, at: place });
const regex = (path: string, pattern: Regex): Filter => ({ kind: 'regex', ref: ref(path), regex: pattern });
const place = (path: string, op: 'eq' | 'lt' | 'lte' | 'gt' | 'gte', operand: JsonOperand): Filter => ({
  kind: 'jsonCompare',
  ref: ref(path),
  op,
  operand,
});
const has = (kind: 'hasAny' | 'hasAll' | 'hasOnly', path: string, ...operands: JsonOperand[]): Filter => ({
  kind,
  ref: ref(path),
  operands,
});
const not = (item: Filter): Filter => ({ kind: 'not', item });
const guard = (rows: RowGuard): Filter => ({ kind: 'guard', guard: rows, table: tables.table('T') });
const acl = (right: 'read' | 'write', ...identities: string[]): Filter => guard({ kind: 'acl', right, identities });
const team = (filter: Filter, page: { limit?: number; skip?: number } = {}) => ({ table: tables.table('Team'), filter, ...page });
const teamGuard: Filter = {
  kind: 'guard',
  guard: { kind: 'acl', right: 'read', identities: ['*'] },
  table: tables.table('Team'),
};
const always: Filter = { kind: 'always' };
const many = Array.from({ length: 1500 }, (_, i) => i);

const cases: [name: string, filter: Filter, found: string][] = [
  ['always', always, 'a b c d'],
  ['never', { kind: 'never' }, ''],
  ['an empty and', { kind: 'and', items: [] }, 'a b c d'],
  ['an empty or', { kind: 'or', items: [] }, ''],

  ['eq on text', { kind: 'compare', field: field('text'), op: 'eq', value: 'abc' }, 'a'],
  ['not eq takes absent values in', not({ kind: 'compare', field: field('text'), op: 'eq', value: 'abc' }), 'b c d'],
  ['gt on numbers', { kind: 'compare', field: field('num'), op: 'gt', value: -2 }, 'a b'],
  ['lte on text is bytewise', { kind: 'compare', field: field('text'), op: 'lte', value: 'abc' }, 'a c'],
  ['booleans', { kind: 'compare', field: field('flag'), op: 'eq', value: false }, 'b'],
  ['dates', { kind: 'compare', field: field('day'), op: 'gte', value: Date.parse('2024-01-02T03:04:05Z') }, 'a'],
  ['in', { kind: 'in', field: field('text'), values: ['abc', 'abd%', "x'"] }, 'a b'],
  ['in with numbers', { kind: 'in', field: field('num'), values: [5, -1.5] }, 'a b'],
  ['in with booleans', { kind: 'in', field: field('flag'), values: [true, false] }, 'a b'],
  ['in with one value', { kind: 'in', field: field('text'), values: ['abc'] }, 'a'],
  ['in with none', { kind: 'in', field: field('text'), values: [] }, ''],
  ['not in', not({ kind: 'in', field: field('num'), values: [5, 6] }), 'b c d'],
  ['createdBy through its partial index', { kind: 'compare', field: field('createdBy'), op: 'eq', value: 'u1' }, 'a'],
  ['createdBy master', { kind: 'compare', field: field('createdBy'), op: 'eq', value: 'master' }, 'b'],
  ['not createdBy', not({ kind: 'compare', field: field('createdBy'), op: 'eq', value: 'u1' }), 'b c d'],
  ['createdBy in', { kind: 'in', field: field('createdBy'), values: ['u1', 'master'] }, 'a b'],

  ['exists', { kind: 'exists', ref: ref('num') }, 'a b'],
  ['exists at a place', { kind: 'exists', ref: ref('obj.n') }, 'a b'],
  ['null is absent', { kind: 'exists', ref: ref('obj.nil') }, ''],
  ['a key that is a number', { kind: 'exists', ref: ref('obj.0') }, 'b'],
  ['a position', place('obj.list.1', 'eq', s('q')), 'a'],
  ['a place below a position', place('obj.list.0.z', 'eq', n(7)), 'b'],
  ['a position of an Array field', place('arr.0', 'gte', n(1.5)), 'b'],
  ['a position is no prefix', place('obj.list.00', 'eq', s('nothing')), ''],
  ['a key with quotes and backslashes', place('obj.deep.k y"\\', 'eq', s('odd')), 'a'],
  ['a key of Object.prototype', { kind: 'exists', ref: ref('obj.toString') }, ''],

  ['numbers are not texts', place('obj.n', 'eq', n(1)), 'a'],
  ['texts are not numbers', place('obj.n', 'eq', s('1')), 'b'],
  ['numbers do not sort before texts', place('obj.n', 'lt', s('z')), 'b'],
  ['texts do not sort after numbers', place('obj.n', 'gt', n(-9)), 'a'],
  ['true is not 1', place('obj.b', 'eq', b(true)), 'a'],
  ['1 is not true', place('obj.b', 'eq', n(1)), 'b'],
  ['a Date by its instant', place('obj.when', 'eq', at('2024-01-01T00:00:00.000Z')), 'a'],
  ['a Date in order', place('obj.when', 'lt', at('2024-01-01T00:00:00.001Z')), 'a'],
  ['a Pointer', place('obj.to', 'eq', to('red')), 'b'],
  ['a Pointer to another class', place('obj.to', 'eq', to('red', 'Other')), ''],
  ['Pointers have no order', place('obj.to', 'lte', to('red')), ''],
  ['null', place('obj.nil', 'eq', { kind: 'null' }), 'b'],
  ['equal content', place('obj.list', 'eq', json('["p","q"]')), 'a'],
  ['equal content of a column', place('arr', 'eq', json('[]')), 'c'],
  ['a text that looks like JSON is none', place('obj.s', 'eq', json('"abc"')), ''],
  ['not at a place', not(place('obj.n', 'eq', n(1))), 'b c d'],

  ['an element: number', has('hasAny', 'arr', n(1)), 'a'],
  ['an element: text', has('hasAny', 'arr', s('1')), 'b'],
  ['an element: true', has('hasAny', 'arr', b(true)), 'a'],
  ['an element: Pointer', has('hasAny', 'arr', to('red')), 'a'],
  ['an element: Date', has('hasAny', 'arr', at('2024-01-01T00:00:00Z')), 'a'],
  ['an element: object', has('hasAny', 'arr', json('{"j":"x","k":[1,2]}')), 'b'],
  ['an element: array', has('hasAny', 'arr', json('["x"]')), 'b'],
  ['an element with quotes', has('hasAny', 'obj.odd', s('é "q" \\ \n\u2028/')), 'c'],
  ['elements of elements do not count', has('hasAny', 'arr', n(2)), ''],
  ['any of several sorts', has('hasAny', 'arr', n(9), n(1.5), s('x'), to('nobody')), 'a b'],
  ['any of none', has('hasAny', 'arr'), ''],
  ['none of', not(has('hasAny', 'arr', n(1))), 'b c d'],
  ['an element at a place', has('hasAny', 'obj.list', s('p')), 'a'],
  ['a scalar is no array', has('hasAny', 'obj.s', s('abc')), ''],
  ['members of an object are no elements', has('hasAny', 'obj', n(1)), ''],
  ['any of many', has('hasAny', 'arr', ...many.map(n)), 'a'],
  ['all', has('hasAll', 'arr', n(1), s('x'), to('red'), b(true), b(true)), 'a'],
  ['all, one missing', has('hasAll', 'arr', n(1), s('y')), ''],
  ['all of none: an array is there', has('hasAll', 'arr'), 'a b c'],
  ['all at a place', has('hasAll', 'obj.list', s('q'), s('p')), 'a'],
  ['all by pattern', { kind: 'hasAll', ref: ref('obj.list'), operands: [re('^[p]'), literal('q', 'start')] }, 'a'],
  ['only, an empty array too', has('hasOnly', 'arr', n(1)), 'c'],
  ['only', has('hasOnly', 'obj.list', s('p'), s('q'), s('r')), 'a'],
  ['only of none', has('hasOnly', 'arr'), 'c'],

  ['regex', regex('text', re('^ab[cd]')), 'a b'],
  ['regex with options', regex('text', re('^abc$', 'i')), 'a c'],
  ['a pattern with a slash', regex('text', re('a/b|bd')), 'b'],
  ['not regex', not(regex('text', re('^ab'))), 'c d'],
  ['literal at the start', regex('text', literal('ab', 'start')), 'a b'],
  ['literal at the end', regex('text', literal('d%', 'end')), 'b'],
  ['literal longer than the text', regex('text', literal('xxabc', 'end')), ''],
  ['literal anywhere', regex('text', literal('bd', 'anywhere')), 'b'],
  ['literal as a whole', regex('text', literal('ABC', 'whole')), 'c'],
  ['empty literals match every text', regex('text', literal('', 'start')), 'a b c'],
  ['regex at a place', regex('obj.s', re('b.$')), 'a'],
  ['regex on elements', regex('obj.list', literal('p', 'whole')), 'a'],
  ['regex on an Array', regex('arr', re('^x$')), 'a'],
  ['regex on an Object looks at none of its members', regex('obj', re('.')), ''],

  ['acl, anyone', acl('read', '*'), 'a c d'],
  ['acl, a user', acl('read', '*', 'u2'), 'a b c d'],
  ['acl, another right', acl('write', '*', 'u2'), 'a c d'],
  ['acl, an id that no path can name', acl('read', '*', 'u2', 'a"b\\c'), 'a b c d'],
  ['acl, such an id alone', acl('read', 'a"b\\c'), 'a c d'],
  [
    'acl, more identities than a function takes',
    acl('read', ...Array.from({ length: 200 }, (_, n) => `role:${n}`), 'u2'),
    'a b c d',
  ],
  ['acl, many', acl('read', ...Array.from({ length: 90 }, (_, n) => `role:${n}`), 'u2'), 'a b c d'],
  ['acl, identities that are paths', acl('read', 'u2".read', '$', 'u*', '."u2', 'u2.read'), 'a c d'],
  ['acl, a role', acl('write', '*', 'u9', 'role:R'), 'a b c d'],
  ['user fields', guard({ kind: 'userFields', fields: ['owner', 'users', 'team', 'missing'], userId: 'u1' }), 'a b'],
  ['one record', guard({ kind: 'record', objectId: 'b' }), 'b'],
  ['all others', guard({ kind: 'not', guard: { kind: 'userFields', fields: ['owner', 'users'], userId: 'u1' } }), 'c d'],
  [
    'others than absent ones too',
    guard({ kind: 'not', guard: { kind: 'userFields', fields: ['owner'], userId: 'u1' } }),
    'a c d',
  ],
  ['no user fields', guard({ kind: 'userFields', fields: [], userId: 'u1' }), ''],
  [
    'both guards',
    guard({
      kind: 'all',
      guards: [
        { kind: 'acl', right: 'read', identities: ['*'] },
        { kind: 'userFields', fields: ['owner', 'users'], userId: 'u1' },
      ],
    }),
    'a',
  ],

  ['inQuery', { kind: 'inQuery', ref: ref('team'), target: team(always) }, 'a b'],
  ['not inQuery', not({ kind: 'inQuery', ref: ref('team'), target: team(always) }), 'c d'],
  ['inQuery sees what the caller may see', { kind: 'inQuery', ref: ref('team'), target: team(teamGuard) }, 'a'],
  ['inQuery with a limit', { kind: 'inQuery', ref: ref('team'), target: team(always, { limit: 1 }) }, 'a'],
  ['inQuery with a skip', { kind: 'inQuery', ref: ref('team'), target: team(always, { skip: 1 }) }, 'b'],
  ['inQuery through an Array', { kind: 'inQuery', ref: ref('arr'), target: team(always) }, 'a'],
  ['inQuery at a place', { kind: 'inQuery', ref: ref('obj.to'), target: team(always) }, 'b'],
  ['inQuery at a place that holds text', { kind: 'inQuery', ref: ref('obj.s'), target: team(always) }, ''],
  ['inQuery at a position', { kind: 'inQuery', ref: ref('arr.3'), target: team(always) }, 'a'],
  ['select through an Array', { kind: 'select', ref: ref('arr'), target: team(always), key: tables.ref('Team', 'size') }, ''],
  ['select, columns of a kind', { kind: 'select', ref: ref('text'), target: team(always), key: tables.ref('Team', 'name') }, 'a'],
  [
    'select, columns of two kinds',
    { kind: 'select', ref: ref('num'), target: team(always), key: tables.ref('Team', 'name') },
    '',
  ],
  [
    'select at a place: numbers',
    { kind: 'select', ref: ref('obj.s'), target: team(always), key: tables.ref('Team', 'size') },
    'b',
  ],
  ['select at a place: texts', { kind: 'select', ref: ref('obj.s'), target: team(always), key: tables.ref('Team', 'name') }, 'a'],
  ['relatedTo', { kind: 'relatedTo', relation: tables.field('Team', 'members'), ownerId: 'red', owner: team(teamGuard) }, 'a b'],
  [
    'relatedTo of an owner the caller may not see',
    { kind: 'relatedTo', relation: tables.field('Team', 'members'), ownerId: 'blue', owner: team(teamGuard) },
    '',
  ],

  ['or', { kind: 'or', items: [regex('text', literal('AB', 'start')), place('obj.n', 'eq', n(1))] }, 'a c'],
  [
    'not and',
    not({
      kind: 'and',
      items: [
        { kind: 'exists', ref: ref('num') },
        { kind: 'exists', ref: ref('day') },
      ],
    }),
    'b c d',
  ],
  [
    'more terms than an expression may be deep',
    { kind: 'or', items: many.map((i) => ({ kind: 'compare', field: field('num'), op: 'eq', value: i })) },
    'a',
  ],
];

for (const [name, filter, found] of cases)
  test(`filter: ${name}`, () => {
    assert.equal(tables.find('T', filter), found);
    assert.equal(tables.find('T', filter, [], true), found, 'interruptible');
  });

test('filter: hasMember finds owners', () => {
  const relation = tables.field('Team', 'members');
  assert.equal(tables.find('Team', { kind: 'hasMember', relation, memberIds: ['b', 'x'] }), 'red');
  assert.equal(tables.find('Team', not({ kind: 'hasMember', relation, memberIds: ['b'] })), 'blue');
});

test('filter: the text of a statement depends on the shape alone', () => {
  const text = (filter: Filter) => tables.compile('T', filter).text;
  const lists = [['a', 'b'], many.map(String)].map((values) => text({ kind: 'in', field: field('text'), values }));
  assert.equal(lists[0], lists[1]);
  assert.equal(text(has('hasAny', 'arr', n(1), n(2))), text(has('hasAny', 'arr', ...many.map(n))));
  assert.equal(text(place('obj.a', 'eq', s('x'))), text(place('obj."b', 'eq', s("y'"))));
  assert.equal(text(acl('read', '*')), text(acl('read', '*', 'u', 'role:x')));
});
