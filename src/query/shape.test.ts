import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, JsonValue } from '../kernel/json.ts';
import { parseOrder } from './order.ts';
import { orderShape, whereShape } from './shape.ts';
import { grant, narrowGrant, scope } from './testing/fixture.ts';
import { guardedFilter, parseWhere } from './where/index.ts';

const SECRET = 'secret-value';
const account = { __type: 'Pointer', className: 'Accounts', objectId: SECRET };

const cases: ReadonlyArray<readonly [name: string, where: JsonObject, shape: JsonObject]> = [
  ['nothing', {}, {}],
  ['an equality', { Name: SECRET }, { Name: '$eq' }],
  ['several operators of a field', { Total: { $gte: 1, $lt: 77 } }, { Total: ['$gte', '$lt'] }],
  ['negations', { Name: { $ne: SECRET }, Total: { $nin: [77] } }, { Name: '$ne', Total: '$nin' }],
  ['a pattern', { Name: { $regex: SECRET, $options: 'i' } }, { Name: '$regex' }],
  ['$not', { Name: { $not: { $regex: SECRET } } }, { Name: { $not: '$regex' } }],
  ['absence', { Name: null, Total: { $exists: true } }, { Name: '$exists', Total: '$exists' }],
  ['$or', { $or: [{ Name: SECRET }, { Total: { $gt: 77 } }] }, { $or: [{ Name: '$eq' }, { Total: '$gt' }] }],
  ['$nor', { $nor: [{ Name: SECRET }, { Total: 77 }] }, { $nor: [{ Name: '$eq' }, { Total: '$eq' }] }],
  [
    'two $or',
    { $and: [{ $or: [{ Name: SECRET }, { Total: 77 }] }, { $or: [{ Closed: true }, { Total: 78 }] }] },
    { $or: [{ Name: '$eq' }, { Total: '$eq' }], $and: [{ $or: [{ Closed: '$eq' }, { Total: '$eq' }] }] },
  ],
  [
    '$inQuery',
    { AccountId: { $inQuery: { className: 'Accounts', where: { Name: SECRET } } } },
    { AccountId: { $inQuery: { className: 'Accounts', where: { Name: '$eq' } } } },
  ],
  [
    '$notInQuery',
    { AccountId: { $notInQuery: { className: 'Accounts', where: { Name: SECRET } } } },
    { AccountId: { $notInQuery: { className: 'Accounts', where: { Name: '$eq' } } } },
  ],
  [
    '$select',
    { Name: { $select: { query: { className: 'Accounts', where: { Name: SECRET } }, key: 'Name' } } },
    { Name: { $select: { query: { className: 'Accounts', where: { Name: '$eq' } }, key: 'Name' } } },
  ],
  ['$relatedTo', { $relatedTo: { object: account, key: 'sales' } }, { $relatedTo: { className: 'Accounts', key: 'sales' } }],
  ['a Relation', { products: { ...account, className: 'Products' } }, { products: '$eq' }],
  ['Arrays', { tags: { $all: [SECRET] } }, { tags: '$all' }],
  ['a place in an Object, whose name may be a value', { [`extra.${SECRET}`]: 1 }, { 'extra.*': '$eq' }],
  ['$text', { Name: { $text: { $search: { $term: SECRET } } } }, { $text: '$search' }],
  ['what matches nothing', { Total: SECRET }, { $never: true }],
];

for (const [name, where, shape] of cases)
  test(`shape of ${name}`, () => {
    const found = whereShape(guardedFilter(narrowGrant, parseWhere(where, grant, scope)));
    assert.deepEqual(found, shape);
    assert.ok(!JSON.stringify(found).includes(SECRET) && !JSON.stringify(found).includes('77'));
  });

test('a shape is bounded, however many branches a where has', () => {
  const branches = Array.from({ length: 950 }, (_, n) => ({ Name: `${SECRET}${n}` }));
  for (const where of [{ $or: branches }, { $and: branches, Total: 1 }] as JsonObject[]) {
    const text = JSON.stringify(whereShape(parseWhere(where, grant, scope)));
    assert.ok(text.length < 2_000, text);
    assert.match(text, /…/);
  }
});

test('a shape is bounded, however deep a where nests', () => {
  const deep = Array.from({ length: 22 }).reduce<JsonObject>(
    (inner) => ({ $or: [{ Total: 1 }, { $and: [inner, { Name: SECRET }] }] as JsonValue }),
    { Name: SECRET },
  );
  assert.ok(JSON.stringify(whereShape(parseWhere(deep, grant, scope))).length < 4_000);
});

test('an order is shown without the objectId that ends it', () => {
  assert.deepEqual(orderShape(parseOrder(['-Total', 'Name', 'AccountId.Name'], grant, scope, false)), [
    '-Total',
    'Name',
    'AccountId.Name',
  ]);
  assert.deepEqual(orderShape([]), []);
});
