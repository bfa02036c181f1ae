import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Filter, JsonOperand, Regex } from '../../../query/model/filter.ts';
import type { Query } from '../../../query/model/selection.ts';
import { TooLong } from '../../sql/reads/read-plan.ts';
import { TestTables } from '../testing/tables.ts';
import { shortCount, shortList } from './read-routing.ts';

const tables = new TestTables();
tables.define('Small', { text: 'String', num: 'Number', list: 'Array', doc: 'Object' });
tables.define('Wide', Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`f${n}`, 'String'])));
const RECORDS = 1_000;
tables.define('Large', { text: 'String', num: 'Number' });
tables.change({ kind: 'setIndex', className: 'Large', index: { name: 'text', keys: [['text', 1]] } });
for (let n = 0; n < 3; n++) tables.insert('Large', { objectId: `o${n}`, text: n < 2 ? 'x' : 'y', num: n });
// The highest row id counts as the number of rows.
tables.run({ text: `UPDATE "t_Large" SET "_seq" = 5000000 WHERE "objectId" = 'o2'`, params: [] });
for (let n = 0; n < RECORDS; n++) tables.insert('Small', { objectId: `o${n}`, text: `t${n}`, num: n, list: [n], doc: { n } });

const always: Filter = { kind: 'always' };
const field = (name: string) => tables.field('Small', name);
const ref = (name: string) => tables.ref('Small', name);
const equals: Filter = { kind: 'compare', field: field('text'), op: 'eq', value: 't5' };
const one: JsonOperand = { kind: 'number', value: 1 };
const many = (count: number): Filter => ({ kind: 'or', items: Array<Filter>(count).fill(equals) });
const among = (count: number): Filter => ({
  kind: 'in',
  field: field('num'),
  values: Array.from({ length: count }, (_, n) => n),
});
const literal: Regex = { kind: 'pattern', pattern: 't', options: '', literal: { text: 't', at: 'anywhere' } };

function query(filter: Filter, more: Partial<Query> = {}): Query {
  const table = tables.table('Small');
  const fields = [...table.fields.values()];
  return { table, fields, filter, includes: [], order: [], skip: 0, limit: 100, count: false, withScore: false, ...more };
}
const longest = (asked: Query) => shortList(tables.connection, asked)?.maxValueBytes ?? null;

describe('what the event loop reads', () => {
  const short: [string, Query][] = [
    ['the first records', query(always)],
    [
      'all records of a table that has few',
      query(always, { table: tables.table('Wide'), fields: [tables.field('Wide', 'f1')], limit: 5_000 }),
    ],
    ['a comparison', query(equals)],
    ['a few of them', query(many(10))],
    ['a list of values', query(among(100))],
    ['whether a value is there', query({ kind: 'not', item: { kind: 'exists', ref: ref('list') } })],
    [
      'what an ACL lets through',
      query({ kind: 'guard', table: tables.table('Small'), guard: { kind: 'acl', right: 'read', identities: ['u', '*'] } }),
    ],
  ];
  for (const [name, asked] of short) test(name, () => assert.ok((longest(asked) ?? 0) > 0));

  const long: [string, Query][] = [
    ['elements of arrays', query({ kind: 'hasAny', ref: ref('list'), operands: [one] })],
    ['all of them', query({ kind: 'hasAll', ref: ref('list'), operands: [one] })],
    ['only them', query({ kind: 'hasOnly', ref: ref('list'), operands: [one] })],
    ['their order', query({ kind: 'hasOrdered', ref: ref('list'), op: 'gt', operand: { kind: 'number', value: 1 } })],
    ['places inside Objects', query({ kind: 'jsonCompare', ref: { field: field('doc'), path: ['n'] }, op: 'eq', operand: one })],
    ['whether they are there', query({ kind: 'exists', ref: { field: field('doc'), path: ['n'] } })],
    ['texts inside texts', query({ kind: 'regex', ref: ref('text'), regex: literal })],
    [
      'such a condition beside plain ones',
      query({ kind: 'and', items: [equals, { kind: 'hasAny', ref: ref('list'), operands: [one] }] }),
    ],
    ['too many conditions for so many records', query(many(50))],
    ['a list of very many values', query(among(50_000))],
    [
      'an order inside Objects',
      query(always, { order: [{ kind: 'field', ref: { field: field('doc'), path: ['n'] }, descending: false }] }),
    ],
    [
      'an order by a field of another record',
      query(always, {
        order: [
          {
            kind: 'pointed',
            steps: [{ pointer: field('text'), table: tables.table('Small'), filter: always }],
            ref: ref('num'),
            descending: false,
          },
        ],
      }),
    ],
    ['more records', query(always, { limit: 201 })],
    ['more values', query(always, { table: tables.table('Wide'), fields: [...tables.table('Wide').fields.values()] })],
  ];
  for (const [name, asked] of long)
    test(`not: ${name}`, () => {
      assert.equal(longest(asked), null);
      if (asked.limit <= 200 && asked.order.length === 0 && asked.table.className === 'Small')
        assert.equal(shortCount(tables.connection, asked), null);
    });

  test('counts in an index, however many records the table has', () => {
    const table = tables.table('Large');
    const ofLarge = (name: string, value: string | number) =>
      query(
        { kind: 'compare', field: tables.field('Large', name), op: 'eq', value },
        { table, fields: [...table.fields.values()] },
      );
    assert.equal(shortCount(tables.connection, ofLarge('text', 'x')), 2);
    assert.equal(shortCount(tables.connection, query(always, { table })), 3);
    assert.equal(shortCount(tables.connection, ofLarge('num', 1)), null);
  });

  test('no value that is longer than conditions and records together allow', () => {
    const few = longest(query(many(2), { limit: 1 })) ?? 0;
    const more = longest(query(many(20), { limit: 1 })) ?? 0;
    assert.ok(few > more && more > 0, `${few} ${more}`);
    tables.insert('Small', { objectId: 'long', text: 'x'.repeat(more + 5_000) });
    const statement = { text: `SELECT "text" FROM "t_Small" WHERE "objectId" = 'long'`, params: [] };
    for (const read of ['first', 'all'] as const)
      assert.throws(() => tables.connection.shorterThan(more)[read](statement), TooLong);
    assert.throws(() => [...tables.connection.shorterThan(more).each(statement)], TooLong);
    // The limit applies to that read only.
    assert.equal(tables.connection.first(statement)?.[0], 'x'.repeat(more + 5_000));
  });
});
