// Values at the limits of their kinds, for the unit tests of both engines.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
import { show, total } from './aggregate-data.ts';
import { date, type SalesTable } from './sales.ts';

type Edge = [sentence: string, records: JsonObject[], stages: JsonObject[], expected: JsonValue[]];

const numbers = (...values: number[]) => values.map((n) => ({ n }));
const places = (...values: JsonValue[]) => values.map((q, at) => ({ k: String(at), o: { q } }));
const x = (expression: JsonValue) => show({ x: expression });
/** One value of an expression per record. */
const each = (...values: JsonValue[]): JsonValue[] => values.map((value) => ({ x: value }));

const edges: Edge[] = [
  [
    'values of all kinds in one order',
    places('b', 2, { z: 1 }, true, null, 'B', -1, [1], 10, false, 'é', '10'),
    [{ $sort: { 'o.q': 1, k: 1 } }, x('$k')],
    each('4', '6', '9', '3', '1', '8', '11', '5', '7', '0', '2', '10'),
  ],
  [
    'the least and the greatest of values of all kinds',
    places('b', 2, { z: 1 }, true, null),
    [total({ lo: { $min: '$o.q' }, hi: { $max: '$o.q' } })],
    [{ objectId: null, lo: true, hi: { z: 1 } }],
  ],
  [
    'groups by objects come in the order of their text, keys in order',
    places({ bb: 1, a: [{ d: null, c: 2 }] }, 5, { a: [{ c: 2, d: null }], bb: 1 }, 'x', { a: 1 }),
    [{ $group: { _id: '$o.q', n: { $sum: 1 } } }, x({ $concat: [{ $cond: [{ $eq: ['$n', 2] }, 'two', 'one'] }] })],
    each('one', 'one', 'one', 'two'),
  ],
  [
    'keys of group keys are written in order',
    [{ k: 'a', city: 'x' }],
    [{ $group: { _id: { bb: '$k', a: { z: '$city', y: 1e21, x: 1e-7 } } } }],
    [{ objectId: { a: { x: 1e-7, y: 1e21, z: 'x' }, bb: 'a' } }],
  ],
  [
    'nulls inside a value that is kept are kept',
    places({ a: null, b: [null, { c: null }] }),
    [{ $project: { _id: 0, 'o.q': 1 } }],
    [{ o: { q: { a: null, b: [null, { c: null }] } } }],
  ],
  [
    'places are put in and taken out in the order of their keys',
    [{ o: { z: 1, q: { b: 1, a: [1, 2] }, y: 2 } }],
    [{ $unwind: '$o.q.a' }, { $project: { _id: 0, 'o.z': 0, k: 0 } }, x('$o')],
    each({ q: { b: 1, a: 1 }, y: 2 }, { q: { b: 1, a: 2 }, y: 2 }),
  ],
  [
    'a sign makes a position a key',
    [{ o: { q: [1, 2], '-1': 3 } }],
    [x(['$o.q.-1', '$o.-1', '$o.q.1', '$o.q.01', '$o.q.2'])],
    [{ x: [null, 3, 2, 2, null] }],
  ],
  [
    'sums are rounded once',
    numbers(...Array(10).fill(0.1)),
    [total({ s: { $sum: '$n' }, a: { $avg: '$n' } })],
    [{ objectId: null, s: 1, a: 0.1 }],
  ],
  ['sums of two', numbers(0.1, 0.2), [total({ s: { $sum: '$n' } })], [{ objectId: null, s: 0.1 + 0.2 }]],
  [
    'sums of small numbers and large ones',
    numbers(1e-30, 1e20, -1e20, 3e-200),
    [total({ s: { $sum: '$n' } })],
    [{ objectId: null, s: 1e-30 }],
  ],
  [
    'products beyond all numbers and below',
    numbers(1e200, 1e-200, 0, 5e-324, 2),
    [x([{ $multiply: ['$n', '$n'] }, { $multiply: ['$n', 1e200] }, { $divide: ['$n', 1e200] }])],
    [{ x: [null, null, 1] }, { x: [0, 1, 0] }, { x: [0, 0, 0] }, { x: [0, 5e-324 * 1e200, 0] }, { x: [4, 2e200, 2e-200] }],
  ],
  [
    'sums beyond all numbers',
    numbers(1.7e308, -1.7e308),
    [x([{ $add: ['$n', '$n'] }, { $subtract: ['$n', '$n'] }, { $subtract: [{ $add: ['$n', '$n'] }, { $add: ['$n', '$n'] }] }])],
    each([null, 0, null], [null, 0, null]),
  ],
  [
    'remainders of fractions',
    numbers(5.5, -7.25),
    [x([{ $mod: ['$n', 0.1] }, { $mod: ['$n', -2] }, { $mod: ['$n', 0] }])],
    each([5.5 % 0.1, 5.5 % 2, null], [-7.25 % 0.1, -7.25 % 2, null]),
  ],
  [
    'halves are rounded away from zero',
    numbers(2.5, -2.5, 0.5, 0.49999999999999994, 2.675, 1.005, 1250),
    [x([{ $round: '$n' }, { $round: ['$n', 2] }, { $round: ['$n', -2] }])],
    each([3, 2.5, 0], [-3, -2.5, 0], [1, 0.5, 0], [1, 0.5, 0], [3, 2.67, 0], [1, 1, 0], [1250, 1250, 1300]),
  ],
  ['letters beyond ASCII have no case', [{ k: 'aéß' }], [x([{ $toUpper: '$k' }, { $toLower: 'ÉA' }])], each(['Aéß', 'Éa'])],
  [
    'texts that look like JSON',
    [{ k: '{"a":1}', city: '"', o: { q: 'true' } }],
    [x(['$k', '$city', '$o.q', { $eq: ['$o.q', true] }, { $eq: ['$o.q', 'true'] }])],
    each(['{"a":1}', '"', 'true', false, true]),
  ],
  [
    'Dates inside Objects',
    places(date('2024-02-29T12:00+02:00'), date('+010000-01-01'), 'x'),
    [x({ $gt: ['$o.q', '$createdAt'] })],
    each(true, true, false),
  ],
  [
    'Dates of any year',
    ['+275760-09-13T00:00:00.000Z', '-271821-04-20T00:00:00.000Z', '0000-02-29T00:00:00.000Z'].map((iso) => ({
      when: date(iso),
    })),
    [x(['$when', { $year: '$when' }])],
    each(
      [date('+275760-09-13T00:00:00.000Z'), null],
      [date('-271821-04-20T00:00:00.000Z'), null],
      [date('0000-02-29T00:00:00.000Z'), 0],
    ),
  ],
  [
    'a Date beyond all dates is null',
    [{ when: date('2024-01-01T00:00:00.000Z') }],
    [x([{ $add: ['$when', 1e16] }, { $add: ['$when', 1e308, 1e308] }, { $add: ['$when', 0.5] }])],
    each([null, null, date('2024-01-01T00:00:00.001Z')]),
  ],
];

/** Defines the tests. @param sales a table whose records they replace */
export function testAggregateEdges(sales: SalesTable): void {
  for (const [sentence, records, stages, expected] of edges)
    test(`aggregate, edges: ${sentence}`, async () => {
      await sales.fill(records);
      assert.deepEqual(await sales.pipeline(...stages), expected);
    });
}
