import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Filter, OrderKey } from '../../../query/filter.ts';
import { TestTables } from '../testing/tables.ts';

const tables = new TestTables();
tables.define('T', { text: 'String', num: 'Number', obj: 'Object', note: 'String', rel: 'Relation:T' });
tables.change({ kind: 'setTextIndex', className: 'T', fields: ['note'] });
tables.insert('T', { objectId: 'z', text: 'b', num: 2, obj: { n: 10 }, note: 'apple pear plum and many other fruits' });
tables.insert('T', { objectId: 'y', text: 'B', obj: { n: 9 }, note: 'apple apple' });
tables.insert('T', { objectId: 'x', text: 'é', num: -1 });
tables.insert('T', { objectId: 'w', text: 'z', num: 2, obj: { n: 'text' }, note: 'nothing' });

const by = (path: string, descending = false): OrderKey => ({ kind: 'field', ref: tables.ref('T', path), descending });
const score = (descending = false): OrderKey => ({ kind: 'score', descending });
const always: Filter = { kind: 'always' };
const search: Filter = {
  kind: 'text',
  table: tables.table('T'),
  search: { terms: ['apple'], phrases: [], excluded: [], caseSensitive: false, diacriticSensitive: false },
};

const cases: [name: string, filter: Filter, order: OrderKey[], found: string][] = [
  ['the order of creation', always, [], 'z y x w'],
  ['texts bytewise', always, [by('text')], 'y z w x'],
  ['absent values first', always, [by('num'), by('objectId')], 'y x w z'],
  ['absent values last, descending', always, [by('num', true), by('objectId')], 'w z x y'],
  ['a place inside an Object', always, [by('obj.n')], 'x y z w'],
  ['a Relation has no order', always, [by('rel')], 'z y x w'],
  ['the best first', search, [score()], 'y z'],
  ['the best last', search, [score(true)], 'z y'],
  [
    'a score, where it stands in an and',
    { kind: 'and', items: [search, { kind: 'exists', ref: tables.ref('T', 'text') }] },
    [score()],
    'y z',
  ],
  ['a score without a search', always, [score(), by('text', true)], 'x w z y'],
];

for (const [name, filter, order, found] of cases)
  test(`order: ${name}`, () => assert.equal(tables.find('T', filter, order), found));
