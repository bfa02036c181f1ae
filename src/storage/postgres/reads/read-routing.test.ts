import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Stage } from '../../../query/aggregate/model.ts';
import type { Filter, OrderKey } from '../../../query/model/filter.ts';
import type { Query } from '../../../query/model/selection.ts';
import { newTable } from '../../../schema/defaults.ts';
import { type Field, fieldOf, type TableSchema } from '../../../schema/model.ts';
import { hasFewRows, isCountedInIndex, isShort } from './read-routing.ts';

const table = newTable('_Session', 't__Session');
const objectId = fieldOf(table, 'objectId');
const token: Field = { name: 'sessionToken', type: 'String', column: 'sessionToken' };
const name: Field = { name: 'name', type: 'String', column: 'name' };
const always: Filter = { kind: 'always' };
const equals = (field: Field): Filter => ({ kind: 'compare', field, op: 'eq', value: 'x' });
const pattern: Filter = {
  kind: 'regex',
  ref: { field: name, path: [] },
  regex: { pattern: 'a.*b', options: '' },
} as unknown as Filter;
const inside: Filter = { kind: 'hasAny', ref: { field: name, path: [] }, operands: [{ kind: 'number', value: 1 }] };
const ordered: Filter = { kind: 'hasOrdered', ref: { field: name, path: [] }, op: 'gt', operand: { kind: 'number', value: 1 } };
const query = (filter: Filter, more: Partial<Query> = {}): Query =>
  ({ table, filter, fields: [], includes: [], order: [], skip: 0, limit: 100, count: false, withScore: false, ...more }) as Query;

const phone: Field = { name: '_phone_key', type: 'String', column: '_phone_key' };
const email: Field = { name: 'Email', type: 'String', column: 'Email' };
const score: Field = { name: 'score', type: 'Number', column: 'score' };
const list: Field = { name: 'Tags', type: 'Array', column: 'Tags' };
const above = (field: Field): Filter => ({ kind: 'compare', field, op: 'gt', value: 'x' });
const accounts: TableSchema = {
  ...newTable('Accounts', 't_Accounts'),
  indexes: new Map([
    ['byEmail', { name: 'byEmail', keys: [['Email', 1]] }],
    ['byScore', { name: 'byScore', keys: [['score', -1]] }],
    ['byTags', { name: 'byTags', keys: [['Tags', 1]] }],
    [
      'byName',
      {
        name: 'byName',
        keys: [
          ['name', 1],
          ['Email', 1],
        ],
      },
    ],
  ]),
};
const by = (field: Field, descending = false): OrderKey => ({ kind: 'field', ref: { field, path: [] }, descending });
const account = (field: Field, more: Partial<Query> = {}) => query(equals(field), { table: accounts, limit: 1, ...more });

const short: [string, Query, boolean][] = [
  ['the first records', query(always), true],
  ['many records', query(always, { limit: 101 }), false],
  ['a later page', query(always, { skip: 1_000 }), false],
  [
    'records in an order',
    query(always, { order: [{ kind: 'field', ref: { field: name, path: [] }, descending: false }] }),
    false,
  ],
  ['the number of all', query(always, { count: true }), false],
  ['an id', query(equals(objectId), { count: true, limit: 5_000 }), true],
  ['a unique value', query({ kind: 'and', items: [equals(name), equals(token)] }), true],
  ['a value', query(equals(name)), false],
  ['an id or a value', query({ kind: 'or', items: [equals(objectId), equals(name)] }), false],
  ['no such id', query({ kind: 'not', item: equals(objectId) }), false],
  ['an id, and what stands in an Array', query({ kind: 'and', items: [equals(objectId), inside] }), false],
  [
    'an id, and one of many orders in an Array',
    query({ kind: 'and', items: [equals(objectId), { kind: 'or', items: Array<Filter>(300).fill(ordered) }] }),
    false,
  ],
  ['an id, and an order in an Array', query({ kind: 'and', items: [equals(objectId), ordered] }), false],
  [
    'an id, and more conditions than are few',
    query({ kind: 'and', items: [equals(objectId), ...Array<Filter>(100).fill(equals(name))] }),
    false,
  ],
  ['a few ids', query({ kind: 'in', field: objectId, values: ['a', 'b'] }), true],
  ['many ids', query({ kind: 'in', field: objectId, values: Array.from({ length: 101 }, (_, n) => String(n)) }), false],
  ['the first records with a value that records are looked up by', account(phone, { limit: 100 }), true],
  ['many of them', account(phone, { limit: 101 }), false],
  ['a later page of them', account(phone, { skip: 100 }), false],
  ['how many they are', account(phone, { count: true }), false],
  ['the first of them by id', account(phone, { order: [by(objectId)] }), false],
  [
    'the first of them of which something else holds',
    account(phone, { filter: { kind: 'and', items: [equals(phone), equals(name)] } }),
    false,
  ],
  ['a value that is not that one', account(phone, { filter: { kind: 'compare', field: phone, op: 'gt', value: 'x' } }), false],
  ['the first by id with a value of an index', account(email, { order: [by(objectId)] }), true],
  ['the last by id', account(email, { order: [by(objectId, true)] }), false],
  ['the first by another order', account(email, { order: [by(name), by(objectId)] }), false],
  ['the first in the order of creation', account(email), false],
  ['the first by id with a value of an index of several fields', account(name, { order: [by(objectId)] }), false],
  ['the first in the order of an index', account(email, { filter: always, order: [by(email), by(objectId)] }), true],
  ['the first of a range in its order', account(email, { filter: above(email), order: [by(email), by(objectId)] }), true],
  ['many of them', account(email, { filter: above(email), order: [by(email), by(objectId)], limit: 101 }), false],
  ['and their number', account(email, { filter: above(email), order: [by(email), by(objectId)], count: true }), false],
  ['the last of them', account(email, { filter: above(email), order: [by(email, true), by(objectId)] }), false],
  [
    'the first in a descending order of an index',
    account(phone, { filter: always, order: [by(score, true), by(objectId)] }),
    true,
  ],
  ['the first in the other direction', account(phone, { filter: always, order: [by(score), by(objectId)] }), false],
  ['the first of another range', account(email, { filter: above(phone), order: [by(email), by(objectId)] }), false],
  [
    'the first in the order of an index of several fields',
    account(name, { filter: always, order: [by(name), by(objectId)] }),
    false,
  ],
  ['the first in the order of an Array', account(list, { filter: always, order: [by(list), by(objectId)] }), false],
  ['an id and a pattern', query({ kind: 'and', items: [equals(objectId), pattern] }), false],
];
const counted: [string, Filter, boolean][] = [
  ['the value of an index', equals(email), true],
  ['the first value of an index of several fields', equals(name), true],
  ['a value that no index has', equals(token), false],
  ['a range', above(email), false],
  ['a value of an index and another', { kind: 'and', items: [equals(email), equals(name)] }, false],
  ['all', always, false],
];
for (const [what, filter, expected] of counted)
  test(`records of ${what} are ${expected ? '' : 'not '}counted in an index`, () =>
    assert.equal(isCountedInIndex(query(filter, { table: accounts })), expected));

for (const [what, query, expected] of short)
  test(`${what}: ${expected ? 'short' : 'may be long'}`, () => assert.equal(isShort(query), expected));

const limit: Stage = { kind: 'limit', count: 1_000 };
const group = (keys: number): Stage => ({ kind: 'group', keys: Array(keys).fill([]), accumulators: [] }) as unknown as Stage;
const unwind = { kind: 'unwind' } as Stage;
const few: [string, Stage[], boolean][] = [
  ['nothing', [], false],
  ['a limit', [group(1), limit], true],
  ['a high limit', [{ kind: 'limit', count: 1_001 }], false],
  ['a limit that is unwound', [limit, unwind], false],
  ['one group', [unwind, group(0)], true],
  ['groups', [limit, group(0), group(1)], false],
];
for (const [what, stages, expected] of few)
  test(`an aggregation with ${what} has ${expected ? 'few rows' : 'any number of rows'}`, () =>
    assert.equal(hasFewRows(stages), expected));
