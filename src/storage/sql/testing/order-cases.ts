import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Filter, OrderKey } from '../../../query/model/filter.ts';
import type { EngineTables } from './tables.ts';

/** Defines the tests of orders that both engines pass. */
export async function testOrders(tables: EngineTables): Promise<void> {
  await tables.make('T', { text: 'String', num: 'Number', obj: 'Object', note: 'String', rel: 'Relation:T' });
  await tables.change({ kind: 'setTextIndex', className: 'T', fields: ['note'] });
  await tables.add('T', {
    objectId: 'z',
    text: 'b',
    num: 2,
    obj: { n: 10, k: 'a' },
    note: 'apple pear plum and many other fruits',
  });
  await tables.add('T', { objectId: 'y', text: 'B', obj: { n: 9, k: true }, note: 'apple apple' });
  await tables.add('T', { objectId: 'x', text: 'é', num: -1 });
  await tables.add('T', { objectId: 'w', text: 'z', num: 2, obj: { n: 'text', k: 'B' }, note: 'nothing' });

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
    ['a place, descending', always, [by('obj.n', true)], 'w z y x'],
    ['kinds of values', always, [by('obj.k'), by('objectId')], 'x y w z'],
    ['kinds of values, descending', always, [by('obj.k', true), by('objectId')], 'z w y x'],
    ['a whole column by its text', always, [by('obj')], 'x w z y'],
    ['createdAt', always, [by('createdAt', true)], 'w x y z'],
    ['a Relation has no order', always, [by('rel')], 'z y x w'],
    ['the best first', search, [score()], 'y z'],
    ['the best last', search, [score(true)], 'z y'],
    [
      'a score, where it stands in an and',
      { kind: 'and', items: [search, { kind: 'exists', ref: tables.ref('T', 'text') }] },
      [score()],
      'y z',
    ],
    [
      'records that the search does not find have the least',
      { kind: 'or', items: [search, always] },
      [score(), by('objectId')],
      'y z w x',
    ],
    [
      'records that the search does not find, the best last',
      { kind: 'or', items: [search, always] },
      [score(true), by('objectId')],
      'w x z y',
    ],
    ['a score without a search', always, [score(), by('text', true)], 'x w z y'],
  ];

  for (const [name, filter, order, found] of cases)
    test(`order: ${name}`, async () => assert.equal(await tables.ids('T', filter, order), found));
}
