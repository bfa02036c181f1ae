import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServiceError } from '../../errors/fail.ts';
import type { JsonValue } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import type { Filter } from '../model/filter.ts';
import { field, grant, narrowGrant, scope, table, userScope } from '../testing/fixture.ts';
import { parseWhere } from './index.ts';

const of = (name: string, path: string[] = []) => ({ field: field('Sales', name), path });
const compare = (name: string, op: 'eq' | 'lt' | 'lte' | 'gt' | 'gte', value: string | number | boolean): Filter => ({
  kind: 'compare',
  field: field('Sales', name),
  op,
  value,
});
const not = (item: Filter): Filter => ({ kind: 'not', item });
const never: Filter = { kind: 'never' };
const always: Filter = { kind: 'always' };
const text = (value: string) => ({ kind: 'string', value }) as const;
const pointer = (className: string, objectId: string) => ({ __type: 'Pointer', className, objectId });
const date = (iso: string) => ({ __type: 'Date', iso });
const noon = Date.parse('2024-05-10T12:00:00.000Z');
const day = 86_400_000;
const hasMember = (...memberIds: string[]): Filter => ({ kind: 'hasMember', relation: field('Sales', 'products'), memberIds });

const cases: ReadonlyArray<readonly [name: string, where: JsonValue, filter: Filter]> = [
  ['nothing', {}, always],
  ['equality', { Name: 'a' }, compare('Name', 'eq', 'a')],
  ['number against text is not converted', { Name: 5 }, never],
  ['text against number is not converted', { Total: { $gt: '5' } }, never],
  ['two fields', { Name: 'a', Total: 1 }, { kind: 'and', items: [compare('Name', 'eq', 'a'), compare('Total', 'eq', 1)] }],
  ['range', { Total: { $gte: 1, $lt: 9 } }, { kind: 'and', items: [compare('Total', 'gte', 1), compare('Total', 'lt', 9)] }],
  ['null', { Name: null }, not({ kind: 'exists', ref: of('Name') })],
  ['$eq null', { Name: { $eq: null } }, not({ kind: 'exists', ref: of('Name') })],
  ['$ne null', { Name: { $ne: null } }, { kind: 'exists', ref: of('Name') }],
  ['$ne', { Name: { $ne: 'a' } }, not(compare('Name', 'eq', 'a'))],
  ['$ne of another type', { Name: { $ne: 5 } }, always],
  ['$exists', { Name: { $exists: true } }, { kind: 'exists', ref: of('Name') }],
  ['$in', { Name: { $in: ['a', 5, 'b'] } }, { kind: 'in', field: field('Sales', 'Name'), values: ['a', 'b'] }],
  ['containedIn', { Name: { containedIn: ['a'] } }, { kind: 'in', field: field('Sales', 'Name'), values: ['a'] }],
  ['$in of nothing', { Name: { $in: [] } }, never],
  ['$nin of nothing', { Name: { $nin: [] } }, always],
  [
    '$in with null',
    { Name: { $in: ['a', null] } },
    {
      kind: 'or',
      items: [not({ kind: 'exists', ref: of('Name') }), { kind: 'in', field: field('Sales', 'Name'), values: ['a'] }],
    },
  ],
  ['$nin', { Name: { $nin: ['a'] } }, not({ kind: 'in', field: field('Sales', 'Name'), values: ['a'] })],
  ['$not', { Total: { $not: { $gt: 1 } } }, not(compare('Total', 'gt', 1))],

  ['unknown field equals', { Nope: 1 }, never],
  ['unknown field $exists false', { Nope: { $exists: false } }, always],
  ['unknown field $ne', { Nope: { $ne: 1 } }, always],
  ['unknown field $nin', { Nope: { $nin: [1] } }, always],
  ['unknown field null', { Nope: null }, always],
  ['unknown field $gt', { Nope: { $gt: 1 } }, never],
  ['place in a String', { 'Name.x': 'a' }, never],

  ['Pointer', { AccountId: pointer('Accounts', 'x') }, compare('AccountId', 'eq', 'x')],
  ['Pointer to another class', { AccountId: pointer('Sales', 'x') }, never],
  ['bare Pointer string', { AccountId: 'x' }, never],
  ['Pointer $gt', { AccountId: { $gt: pointer('Accounts', 'x') } }, never],
  ['Date', { ClosingDate: date('2024-05-10T12:00:00.000Z') }, compare('ClosingDate', 'eq', noon)],
  ['bare Date string', { ClosingDate: '2024-05-10T12:00:00.000Z' }, never],
  ['createdAt', { createdAt: { $gte: date('2024-05-10T12:00:00.000Z') } }, compare('createdAt', 'gte', noon)],
  [
    'days ago',
    { ClosingDate: { $gt: { $relativeTime: '3 days 1 hr ago' } } },
    compare('ClosingDate', 'gt', noon - 3 * day - 3_600_000),
  ],
  ['in weeks', { ClosingDate: { $lt: { $relativeTime: 'in 2 weeks' } } }, compare('ClosingDate', 'lt', noon + 14 * day)],
  ['now', { ClosingDate: { $lte: { $relativeTime: 'now' } } }, compare('ClosingDate', 'lte', noon)],

  ['Array element', { tags: 'a' }, { kind: 'hasAny', ref: of('tags'), operands: [text('a')] }],
  [
    'Pointer in an Array',
    { tags: pointer('T', 'x') },
    { kind: 'hasAny', ref: of('tags'), operands: [{ kind: 'pointer', className: 'T', objectId: 'x' }] },
  ],
  [
    'whole Array',
    { tags: ['b', 'a'] },
    { kind: 'jsonCompare', ref: of('tags'), op: 'eq', operand: { kind: 'json', canonical: '["b","a"]' } },
  ],
  [
    'Array $in',
    { tags: { $in: ['a', 1] } },
    { kind: 'hasAny', ref: of('tags'), operands: [text('a'), { kind: 'number', value: 1 }] },
  ],
  ['Array $nin', { tags: { $nin: ['a'] } }, not({ kind: 'hasAny', ref: of('tags'), operands: [text('a')] })],
  ['Array $gt', { tags: { $gt: 1 } }, { kind: 'hasOrdered', ref: of('tags'), op: 'gt', operand: { kind: 'number', value: 1 } }],
  ['$all', { tags: { $all: ['a', 'b'] } }, { kind: 'hasAll', ref: of('tags'), operands: [text('a'), text('b')] }],
  ['$all of nothing', { tags: { $all: [] } }, never],
  ['$all on a String', { Name: { $all: ['a'] } }, never],
  [
    '$all with patterns',
    { tags: { $all: [{ $regex: '^\\Qa\\E' }] } },
    {
      kind: 'hasAll',
      ref: of('tags'),
      operands: [{ kind: 'pattern', pattern: '^\\Qa\\E', options: '', literal: { text: 'a', at: 'start' } }],
    },
  ],
  ['$containedBy', { tags: { $containedBy: ['a'] } }, { kind: 'hasOnly', ref: of('tags'), operands: [text('a')] }],

  [
    'whole Object, keys in any order',
    { extra: { b: 1, a: 2 } },
    { kind: 'jsonCompare', ref: of('extra'), op: 'eq', operand: { kind: 'json', canonical: '{"a":2,"b":1}' } },
  ],
  [
    'place in an Object',
    { 'extra.k.0': 'v' },
    {
      kind: 'or',
      items: [
        { kind: 'jsonCompare', ref: of('extra', ['k', '0']), op: 'eq', operand: text('v') },
        { kind: 'hasAny', ref: of('extra', ['k', '0']), operands: [text('v')] },
      ],
    },
  ],
  [
    'place compared',
    { 'extra.k': { $gt: date('2024-05-10T12:00Z') } },
    { kind: 'jsonCompare', ref: of('extra', ['k']), op: 'gt', operand: { kind: 'date', iso: '2024-05-10T12:00:00.000Z' } },
  ],
  ['place exists', { 'extra.k': { $exists: true } }, { kind: 'exists', ref: of('extra', ['k']) }],
  [
    'keys beside operators',
    { extra: { a: 1, $exists: true } },
    {
      kind: 'and',
      items: [
        { kind: 'exists', ref: of('extra') },
        { kind: 'jsonCompare', ref: of('extra'), op: 'eq', operand: { kind: 'json', canonical: '{"a":1}' } },
      ],
    },
  ],
  [
    'File by its name',
    { Doc: { __type: 'File', name: 'n', url: 'u' } },
    { kind: 'jsonCompare', ref: of('Doc', ['name']), op: 'eq', operand: text('n') },
  ],

  [
    '$regex',
    { Name: { $regex: 'a.c', $options: 'si' } },
    { kind: 'regex', ref: of('Name'), regex: { kind: 'pattern', pattern: 'a.c', options: 'is' } },
  ],
  ['$regex on a Number', { Total: { $regex: 'a' } }, never],
  [
    '$text',
    { Name: { $text: { $search: { $term: 'blue "big cat" -red' } } } },
    {
      kind: 'text',
      table: table('Sales'),
      search: { terms: ['blue'], phrases: ['big cat'], excluded: ['red'], caseSensitive: false, diacriticSensitive: false },
    },
  ],

  ['$or', { $or: [{ Name: 'a' }, { Total: 1 }] }, { kind: 'or', items: [compare('Name', 'eq', 'a'), compare('Total', 'eq', 1)] }],
  ['$or that is always true', { $or: [{ Name: 'a' }, {}] }, always],
  ['$or of nothing', { $or: [] }, never],
  ['$and with a contradiction', { $and: [{ Name: 'a' }, { Total: 'x' }] }, never],
  [
    '$and flattened',
    { $and: [{ $and: [{ Name: 'a' }] }, { Total: 1 }] },
    { kind: 'and', items: [compare('Name', 'eq', 'a'), compare('Total', 'eq', 1)] },
  ],
  ['$nor', { $nor: [{ Name: 'a' }] }, not(compare('Name', 'eq', 'a'))],

  ['Relation member', { products: pointer('Products', 'p') }, hasMember('p')],
  ['Relation $in', { products: { $in: [pointer('Products', 'p'), pointer('Products', 'q')] } }, hasMember('p', 'q')],
  ['Relation $ne', { products: { $ne: pointer('Products', 'p') } }, not(hasMember('p'))],
  ['Relation member of another class', { products: pointer('Sales', 'p') }, never],
  ['Relation is always there', { products: { $exists: true } }, always],
  [
    '$relatedTo',
    { $relatedTo: { object: pointer('Accounts', 'a'), key: 'sales' } },
    {
      kind: 'relatedTo',
      relation: field('Accounts', 'sales'),
      ownerId: 'a',
      owner: {
        table: table('Accounts'),
        filter: { kind: 'compare', field: field('Accounts', 'objectId'), op: 'eq', value: 'a' },
      },
    },
  ],
  ['$relatedTo through a Relation to another class', { $relatedTo: { object: pointer('Sales', 'a'), key: 'products' } }, never],

  [
    '$inQuery',
    { AccountId: { $inQuery: { className: 'Accounts', where: { Name: 'a' }, limit: 3 } } },
    {
      kind: 'inQuery',
      ref: { field: field('Sales', 'AccountId'), path: [] },
      target: {
        table: table('Accounts'),
        filter: { kind: 'compare', field: field('Accounts', 'Name'), op: 'eq', value: 'a' },
        limit: 3,
      },
    },
  ],
  ['$inQuery of an unknown class', { AccountId: { $inQuery: { className: 'Nope', where: {} } } }, never],
  ['$notInQuery of an unknown class', { AccountId: { $notInQuery: { className: 'Nope', where: {} } } }, always],
  ['$inQuery of another class', { AccountId: { $inQuery: { className: 'Sales', where: {} } } }, never],
  [
    '$select',
    { Name: { $select: { query: { className: 'Accounts', where: {} }, key: 'Name' } } },
    {
      kind: 'select',
      ref: of('Name'),
      target: { table: table('Accounts'), filter: always },
      key: { field: field('Accounts', 'Name'), path: [] },
    },
  ],
  [
    '$dontSelect of an unknown key',
    { Name: { $dontSelect: { query: { className: 'Accounts', where: {} }, key: 'Nope' } } },
    always,
  ],
];

for (const [name, where, filter] of cases)
  test(`where: ${name}`, () => assert.deepEqual(parseWhere(where, grant, scope), filter));

const nested = (levels: number): JsonValue => (levels === 0 ? { Name: 'a' } : { $or: [nested(levels - 1), { Name: 'b' }] });

const refusals: ReadonlyArray<readonly [name: string, where: JsonValue, key: string]> = [
  ['an array', [], 'invalidWhere'],
  ['text', 'x', 'invalidWhere'],
  ['null', null, 'invalidWhere'],
  ['ACL', { ACL: {} }, 'badQuery'],
  ['unknown operator of a field', { Name: { $near: 1 } }, 'badQuery'],
  ['unknown operator', { $where: '1' }, 'badQuery'],
  ['ill-formed name', { 'a b': 1 }, 'invalidFieldName'],
  ['__proto__', JSON.parse('{"__proto__": 1}'), 'invalidFieldName'],
  ['constructor inside', { extra: { constructor: 1 } }, 'invalidFieldName'],
  ['forbidden segment', { 'extra.__proto__': 1 }, 'invalidFieldName'],
  ['empty segment', { 'extra..a': 1 }, 'invalidFieldName'],
  ['NUL', { Name: 'a\0' }, 'invalidJson'],
  ['infinite number', { Total: Number.POSITIVE_INFINITY }, 'invalidJson'],
  ['$in without array', { Name: { $in: 'a' } }, 'badConstraint'],
  ['$nin without array, unknown field', { Nope: { $nin: 'a' } }, 'badConstraint'],
  ['$containedBy without array', { tags: { $containedBy: 1 } }, 'badConstraint'],
  ['$all of both kinds', { tags: { $all: ['a', { $regex: 'a' }] } }, 'badConstraint'],
  ['$exists without boolean', { Name: { $exists: 1 } }, 'badConstraint'],
  ['$relativeTime on a Number', { Total: { $gt: { $relativeTime: 'now' } } }, 'badConstraint'],
  ['$relativeTime equality', { ClosingDate: { $relativeTime: 'now' } }, 'badConstraint'],
  ['$relativeTime garbage', { ClosingDate: { $gt: { $relativeTime: 'in 3 moons' } } }, 'badConstraint'],
  ['$options alone', { Name: { $options: 'i' } }, 'badQuery'],
  ['bad $options', { Name: { $regex: 'a', $options: 'g' } }, 'badQuery'],
  ['bad pattern on an unknown field', { Nope: { $regex: '(' } }, 'badQuery'],
  ['$regex of a number', { Name: { $regex: 5 } }, 'badConstraint'],
  ['$text without term', { Name: { $text: { $search: {} } } }, 'badConstraint'],
  ['$text twice', { $and: [{ $text: { $search: { $term: 'a' } } }, { $text: { $search: { $term: 'b' } } }] }, 'badQuery'],
  ['$or without array', { $or: {} }, 'badQuery'],
  ['$or of numbers', { $or: [1] }, 'badQuery'],
  ['$nor of nothing', { $nor: [] }, 'badQuery'],
  ['$inQuery without where', { AccountId: { $inQuery: { className: 'Accounts' } } }, 'badQuery'],
  ['$inQuery with a bad limit', { AccountId: { $inQuery: { className: 'Accounts', where: {}, limit: -1 } } }, 'badQuery'],
  [
    '$select with a third key',
    { Name: { $select: { query: { className: 'Accounts', where: {} }, key: 'Name', x: 1 } } },
    'badQuery',
  ],
  ['$relatedTo without object', { $relatedTo: { key: 'sales' } }, 'badQuery'],
  ['too deep', nested(limits.whereDepth + 1), 'badQuery'],
  ['far too deep', { $or: [nested(500)] }, 'badQuery'],
  ['too many constraints', { $or: Array.from({ length: limits.whereTerms }, () => ({ Name: 'a' })) }, 'badQuery'],
];

for (const [name, where, key] of refusals)
  test(`where refused: ${name}`, () =>
    assert.throws(
      () => parseWhere(where, grant, scope),
      (error) => error instanceof ServiceError && error.key === key,
    ));

test('where: the deepest allowed', () => {
  assert.equal(parseWhere(nested(limits.whereDepth), grant, scope).kind, 'or');
});

const hidden: ReadonlyArray<JsonValue> = [
  { Hidden: 'a' },
  { 'Hidden.x': 'a' },
  { $or: [{ Name: 'b' }, { Hidden: { $exists: true } }] },
  { Name: { $not: { $eq: 'x' } }, Hidden: { $regex: '^a' } },
];
for (const where of hidden)
  test(`where: hidden field in ${JSON.stringify(where)}`, () =>
    assert.throws(
      () => parseWhere(where, narrowGrant, userScope),
      (error) => error instanceof ServiceError && error.key === 'fieldDenied',
    ));

test('where: sub-queries run with the rights of the caller', () => {
  const secret = { AccountId: { $notInQuery: { className: 'Secrets', where: {} } } };
  assert.throws(() => parseWhere(secret, narrowGrant, userScope), {
    message: 'Permission denied for action find on class Secrets',
  });
  assert.equal(parseWhere(secret, grant, scope).kind, 'always');
  const filter = parseWhere({ AccountId: { $inQuery: { className: 'Accounts', where: {} } } }, narrowGrant, userScope);
  assert.equal(filter.kind === 'inQuery' && filter.target.filter.kind, 'guard');
  const related = parseWhere({ $relatedTo: { object: pointer('Accounts', 'a'), key: 'sales' } }, narrowGrant, userScope);
  assert.deepEqual(
    related.kind === 'relatedTo' && related.owner.filter.kind === 'and' && related.owner.filter.items.map((item) => item.kind),
    ['guard', 'compare'],
  );
});
