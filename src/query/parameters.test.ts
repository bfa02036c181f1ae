import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServiceError } from '../errors/fail.ts';
import type { JsonObject } from '../kernel/json.ts';
import { targetAt } from '../storage/sql/reads/read-plan.ts';
import { buildQuery, buildSelection, FindParameters, ReadParameters } from './index.ts';
import type { Include, Selection } from './model/selection.ts';
import { grant, narrowGrant, scope, userScope } from './testing/fixture.ts';

const query = (parameters: JsonObject) => buildQuery(new FindParameters(new Map(Object.entries(parameters))), grant, scope);
const narrow = (parameters: JsonObject) =>
  buildQuery(new FindParameters(new Map(Object.entries(parameters))), narrowGrant, userScope);
const names = (selection: Selection) => selection.fields.map((field) => field.name).join(' ');
const target = ([include]: readonly Include[], className: string) => include && targetAt(include, className);
const basic = 'objectId createdAt updatedAt ACL';

test('defaults', () => {
  const { limit, skip, count, order, withScore, filter, includes } = query({});
  assert.deepEqual(
    { limit, skip, count, order, withScore, filter, includes },
    {
      limit: 100,
      skip: 0,
      count: false,
      order: [],
      withScore: false,
      filter: { kind: 'always' },
      includes: [],
    },
  );
});

test('the caller sees what they may', () => {
  assert.equal(narrow({ where: '{"Name":"a"}' }).filter.kind, 'and');
  assert.equal(narrow({}).filter.kind, 'guard');
  assert.equal(buildSelection(new ReadParameters(new Map()), narrowGrant, userScope).filter.kind, 'guard');
});

const refusals: ReadonlyArray<readonly [parameters: JsonObject, key: string]> = [
  [{ where: 'x', distinct: 'Name' }, 'invalidParameter'],
  [{ readPreference: 'x' }, 'invalidParameter'],
  [{ constructor: 'x' }, 'invalidParameter'],
  [{ where: '{' }, 'invalidWhere'],
  [{ where: '[]' }, 'invalidWhere'],
  [{ where: '' }, 'invalidWhere'],
  [{ limit: 'abc' }, 'badParameterValue'],
  [{ limit: '-1' }, 'badParameterValue'],
  [{ limit: '1.5' }, 'badParameterValue'],
  [{ limit: '' }, 'badParameterValue'],
  [{ limit: null }, 'badParameterValue'],
  [{ skip: '1e3' }, 'badParameterValue'],
  [{ count: 'yes' }, 'badParameterValue'],
  [{ keys: 5 }, 'badParameterValue'],
  [{ order: 'a b' }, 'invalidFieldName'],
  [{ keys: 'a-b' }, 'invalidFieldName'],
  [{ include: 'AccountId'.concat('.ParentId'.repeat(10)) }, 'badQuery'],
];
for (const [parameters, key] of refusals)
  test(`refused: ${JSON.stringify(parameters)}`, () =>
    assert.throws(
      () => query(parameters),
      (error) => error instanceof ServiceError && error.key === key,
    ));

for (const name of ['order', 'keys', 'include'])
  test(`hidden field in ${name}`, () =>
    assert.throws(
      () => narrow({ [name]: 'Hidden' }),
      (error) => error instanceof ServiceError && error.key === 'fieldDenied',
    ));

test('values from a body', () => {
  const { limit, skip, count, filter } = query({ where: { Name: 'a' }, limit: 0, skip: 3, count: 1 });
  assert.deepEqual([limit, skip, count, filter.kind], [0, 3, true, 'compare']);
});

const orders: ReadonlyArray<readonly [order: string, keys: string]> = [
  ['Name', '+Name +objectId'],
  ['-Name, Total', '-Name +Total +objectId'],
  ['-objectId,Name', '-objectId +Name'],
  ['Nope', '+objectId'],
  ['Nope,Name,-Name', '+Name +objectId'],
  ['-_created_at', '-createdAt +objectId'],
  ['extra.a.b', '+extra.a.b +objectId'],
  ['products,ACL', '+objectId'],
  ['$score', '+objectId'],
];
for (const [order, expected] of orders)
  test(`order: ${order}`, () => {
    const keys = query({ order }).order.map((key) =>
      [key.descending ? '-' : '+', key.kind === 'score' ? '$score' : [key.ref.field.name, ...key.ref.path].join('.')].join(''),
    );
    assert.equal(keys.join(' '), expected);
  });

test('relevance', () => {
  const where = { $text: { $search: { $term: 'a' } } };
  const { order, withScore, fields } = query({ where, order: '$score', keys: '$score,Name' });
  assert.deepEqual([order.map((key) => key.kind), withScore, fields.length], [['score', 'field'], true, 5]);
  assert.equal(query({ keys: '$score' }).withScore, false);
});

const projections: ReadonlyArray<readonly [parameters: JsonObject, fields: string]> = [
  [{ keys: 'Total,Name' }, `${basic} Name Total`],
  [{ keys: 'Nope' }, basic],
  [{ keys: 'Name', excludeKeys: 'Name' }, basic],
  [{ keys: 'AccountId.Name' }, `${basic} AccountId`],
  [{ keys: 'extra.a' }, `${basic} extra`],
  [{ keys: 'Name.x' }, basic],
];
for (const [parameters, fields] of projections)
  test(`keys: ${JSON.stringify(parameters)}`, () => assert.equal(names(query(parameters)), fields));

test('fields that are not asked for', () => {
  const { fields } = query({ excludeKeys: 'Name,objectId,ACL' });
  assert.deepEqual(
    [fields.some((field) => field.name === 'Name'), fields[0]?.name, fields.some((field) => field.name === 'ACL')],
    [false, 'objectId', true],
  );
  assert.equal(names(narrow({})).includes('Hidden'), false);
  assert.equal(names(query({})).includes('Hidden'), true);
});

test('places in an Object', () => {
  assert.deepEqual([...(query({ keys: 'extra.a.b,extra.c' }).paths ?? [])], [['extra', [['a', 'b'], ['c']]]]);
  assert.equal(query({ keys: 'extra.a,extra' }).paths, undefined);
});

test('include', () => {
  const { includes } = query({ include: 'AccountId.ParentId,Name,Nope' });
  assert.deepEqual(
    includes.map((include) => include.field.name),
    ['AccountId'],
  );
  const account = target(includes, 'Accounts');
  assert.deepEqual(
    account?.includes.map((include) => include.field.name),
    ['ParentId'],
  );
  assert.equal(target(includes, 'Accounts'), account);
  assert.equal(target(includes, 'Nope'), null);
  assert.deepEqual(
    query({ include: '*' }).includes.map((include) => include.field.name),
    ['createdBy', 'updatedBy', 'AccountId', 'tags'],
  );
});

test('a class that the caller may not read stays bare', () => {
  const { includes } = narrow({ include: 'tags' });
  assert.equal(target(includes, 'Secrets'), null);
  assert.equal(target(includes, 'Accounts')?.filter.kind, 'guard');
});

test('keys through a Pointer', () => {
  const { includes } = query({ keys: 'Name,AccountId.Name' });
  const account = target(includes, 'Accounts');
  assert.equal(account && names(account), `${basic} Name`);
  const whole = target(query({ keys: 'AccountId,AccountId.Name' }).includes, 'Accounts');
  assert.equal(whole?.fields.length, 9);
  assert.deepEqual(query({ keys: 'Name', include: 'AccountId' }).includes, []);
  const without = target(query({ include: 'AccountId', excludeKeys: 'AccountId.Name' }).includes, 'Accounts');
  assert.equal(
    without?.fields.some((field) => field.name === 'Name'),
    false,
  );
});
