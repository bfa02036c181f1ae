import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
import { buyer, date } from './sales.ts';

export type Case = [sentence: string, pipeline: JsonObject[], expected: JsonValue[]];

/** The records that the cases refer to. */
export const records: JsonObject[] = [
  {
    k: 'a',
    city: 'Haifa',
    n: 1,
    p: 2,
    paid: true,
    when: date('2024-01-06T10:00:00.000Z'),
    owner: buyer('b1'),
    tags: ['x', 'y'],
    o: { q: 1, r: { s: 'in' } },
  },
  {
    k: 'b',
    city: 'Haifa',
    n: 2,
    p: 3,
    paid: false,
    when: date('2024-01-07T23:59:59.999Z'),
    owner: buyer('b1'),
    tags: ['y', buyer('b2')],
  },
  {
    k: 'c',
    city: 'Eilat',
    n: 10,
    p: 0.5,
    when: date('1969-12-31T23:59:59.999Z'),
    owner: buyer('b2'),
    tags: [],
    o: { q: 3, list: [{ z: 1 }, { z: null }] },
  },
  { k: 'd', n: 5, paid: true, o: { r: { s: 'in' }, q: 1 } },
  { k: 'e', city: 'Eilat' },
];

export const key = { $sort: { objectId: 1 } };
export const only = (k: string) => ({ $match: { k } });
export const total = (accumulators: JsonObject): JsonObject => ({ $group: { _id: null, ...accumulators } });
export const show = (members: JsonObject): JsonObject => ({ $project: { objectId: 0, ...members } });
/** Returns a case with the results of one expression for the records a, b, c, d, e. */
export const each = (sentence: string, x: JsonValue, values: JsonValue[]): Case => [
  sentence,
  [show({ x })],
  values.map((value) => ({ x: value })),
];
