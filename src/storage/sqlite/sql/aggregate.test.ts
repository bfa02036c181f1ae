import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
import { buyer, date, SalesTable } from '../testing/sales.ts';

type Case = [sentence: string, pipeline: JsonObject[], expected: JsonValue[]];

const sales = new SalesTable([
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
]);
const key = { $sort: { objectId: 1 } };
const only = (k: string) => ({ $match: { k } });
const total = (accumulators: JsonObject): JsonObject => ({ $group: { _id: null, ...accumulators } });
const show = (members: JsonObject): JsonObject => ({ $project: { objectId: 0, ...members } });
/** Results of one expression for the records a, b, c, d, e. */
const each = (sentence: string, x: JsonValue, values: JsonValue[]): Case => [
  sentence,
  [show({ x })],
  values.map((value) => ({ x: value })),
];

const groups: Case[] = [
  [
    'a key is the absent value too',
    [{ $group: { _id: '$city', n: { $sum: '$n' } } }],
    [
      { objectId: null, n: 5 },
      { objectId: 'Eilat', n: 10 },
      { objectId: 'Haifa', n: 3 },
    ],
  ],
  [
    'Pointer key',
    [{ $group: { _id: '$_p_owner', n: { $count: {} } } }, { $match: { objectId: { $ne: null } } }],
    [
      { objectId: buyer('b1'), n: 2 },
      { objectId: buyer('b2'), n: 1 },
    ],
  ],
  ['Date key', [only('a'), { $group: { _id: '$when' } }], [{ objectId: date('2024-01-06T10:00:00.000Z') }]],
  [
    'Object keys are equal whatever the order of their keys',
    [{ $match: { 'o.q': 1 } }, { $group: { _id: '$o', n: { $sum: 1 } } }, show({ n: 1 })],
    [{ n: 2 }],
  ],
  [
    'a place as key',
    [{ $group: { _id: '$o.q', n: { $sum: 1 } } }, key],
    [
      { objectId: null, n: 2 },
      { objectId: 1, n: 2 },
      { objectId: 3, n: 1 },
    ],
  ],
  [
    'an object as key, with constants and objects in it',
    [only('a'), { $group: { _id: { c: '$city', in: { o: '$owner' }, one: 1 } } }],
    [{ objectId: { c: 'Haifa', in: { o: buyer('b1') }, one: 1 } }],
  ],
  ['a constant key', [{ $group: { _id: 'all', n: { $sum: 2 } } }], [{ objectId: 'all', n: 10 }]],
  ['no rows, no group', [only('z'), total({ n: { $sum: 1 } })], []],
  ['no rows, no count', [only('z'), { $count: 'n' }], []],
  [
    '$sum and $avg pass over what is no number',
    [total({ s: { $sum: '$k' }, a: { $avg: '$k' }, q: { $sum: '$o.q' } })],
    [{ objectId: null, s: 0, a: null, q: 5 }],
  ],
  [
    '$min and $max of a Boolean, a Date and a place',
    [total({ b: { $min: '$paid' }, d: { $min: '$when' }, q: { $max: '$o.q' } })],
    [{ objectId: null, b: false, d: date('1969-12-31T23:59:59.999Z'), q: 3 }],
  ],
  [
    '$first and $last of rows in order, absent ones too',
    [{ $sort: { n: 1 } }, total({ f: { $first: '$city' }, g: { $first: '$n' }, l: { $last: '$owner' } })],
    [{ objectId: null, f: 'Eilat', g: null, l: buyer('b2') }],
  ],
  [
    '$first and $last without $sort go by creation',
    [total({ f: { $first: '$k' }, l: { $last: '$k' } })],
    [{ objectId: null, f: 'a', l: 'e' }],
  ],
  [
    '$push of objects',
    [{ $limit: 2 }, total({ x: { $push: { k: '$k', o: '$owner' } } })],
    [
      {
        objectId: null,
        x: [
          { k: 'a', o: buyer('b1') },
          { k: 'b', o: buyer('b1') },
        ],
      },
    ],
  ],
  [
    '$push in the order of $sort',
    [{ $match: { n: { $gt: 0 } } }, { $sort: { n: -1 } }, total({ x: { $push: '$n' } })],
    [{ objectId: null, x: [10, 5, 2, 1] }],
  ],
  [
    '$addToSet',
    [total({ x: { $addToSet: '$city' }, y: { $addToSet: '$o.q' } })],
    [{ objectId: null, x: ['Eilat', 'Haifa'], y: [1, 3] }],
  ],
  ['a sum beyond all numbers is null', [total({ x: { $sum: { $multiply: ['$n', 1e308] } } })], [{ objectId: null, x: null }]],
  [
    'createdAt is bare under its own name only',
    [only('b'), { $group: { _id: '$createdAt', createdAt: { $max: '$createdAt' } } }],
    [{ objectId: date('1970-01-01T00:00:00.002Z'), createdAt: '1970-01-01T00:00:00.002Z' }],
  ],
];

const unwinds: Case[] = [
  ['elements keep their kinds', [only('b'), { $unwind: '$tags' }, show({ tags: 1 })], [{ tags: 'y' }, { tags: buyer('b2') }]],
  [
    'index, and rows that have none',
    [
      { $unwind: { path: '$tags', includeArrayIndex: 'i', preserveNullAndEmptyArrays: true } },
      show({ k: 1, i: 1 }),
      { $skip: 1 },
      { $limit: 4 },
    ],
    [
      { k: 'a', i: 1 },
      { k: 'b', i: 0 },
      { k: 'b', i: 1 },
      { k: 'c', i: null },
    ],
  ],
  ['a place inside an Object', [{ $unwind: '$o.list' }, show({ z: '$o.list.z', q: '$o.q' })], [{ z: 1, q: 3 }, { q: 3 }]],
  ['a single value is its own element', [{ $unwind: '$city' }, { $count: 'n' }], [{ n: 4 }]],
  ['an unknown field has no elements', [{ $unwind: '$nothing' }], []],
];

const projections: Case[] = [
  ['places are kept in their objects', [{ $project: { 'o.q': 1, _id: 0 } }, { $limit: 2 }], [{ o: { q: 1 } }, {}]],
  ['places are taken out', [only('a'), { $project: { 'o.r': 0 } }, show({ o: 1 })], [{ o: { q: 1 } }]],
  [
    '$addFields sees the row as it came',
    [only('a'), { $addFields: { k: '$city', city: '$k' } }, show({ k: 1, city: 1 })],
    [{ k: 'Haifa', city: 'a' }],
  ],
  [
    'a copy outlives its field',
    [only('a'), { $addFields: { copy: '$city' } }, { $project: { city: 0 } }, show({ copy: 1, city: 1 })],
    [{ copy: 'Haifa' }],
  ],
  [
    'output names are not SQL',
    [only('a'), show({ 'x"; DROP TABLE t --': '$k', שם: '$n' })],
    [{ 'x"; DROP TABLE t --': 'a', שם: 1 }],
  ],
  [
    'Relations and the ACL are there',
    [only('a'), show({ friends: 1, ACL: 1 })],
    [{ friends: { __type: 'Relation', className: 'Buyers' }, ACL: {} }],
  ],
];

const expressions: Case[] = [
  each('$add of a Date and milliseconds', { $add: ['$when', 1] }, [
    date('2024-01-06T10:00:00.001Z'),
    date('2024-01-08T00:00:00.000Z'),
    date('1970-01-01T00:00:00.000Z'),
    null,
    null,
  ]),
  each('$subtract of Dates', { $subtract: ['$when', date('2024-01-06T00:00:00.000Z')] }, [
    36_000_000,
    172_799_999,
    -1_704_499_200_001,
    null,
    null,
  ]),
  each('$divide by zero', { $divide: ['$n', { $subtract: ['$n', '$n'] }] }, [null, null, null, null, null]),
  each('$mod', { $mod: [{ $multiply: ['$n', -1] }, 3] }, [-1, -2, -1, -2, null]),
  each('$abs and $round', { $round: [{ $abs: { $multiply: ['$p', -1.26] } }, 1] }, [2.5, 3.8, 0.6, null, null]),
  each('$concat of what is no text', { $concat: ['$k', '$n'] }, [null, null, null, null, null]),
  each('$toUpper of an absent text', { $toUpper: '$city' }, ['HAIFA', 'HAIFA', 'EILAT', '', 'EILAT']),
  each('$ifNull of unlike kinds', { $ifNull: ['$paid', '$n', '$k'] }, [true, false, 10, true, 'e']),
  each('$cond', { $cond: ['$o.q', '$owner', { $literal: '$k' }] }, [buyer('b1'), '$k', buyer('b2'), null, '$k']),
  each('$eq of a place and a number', { $eq: ['$o.q', 1] }, [true, false, false, true, false]),
  each('$lt: null comes first', { $lt: ['$o.q', '$n'] }, [false, true, true, true, false]),
  each('$gte of a Date and ISO text', { $gte: ['$when', '2024-01-07'] }, [false, true, false, false, false]),
  each('$and, $or, $not', { $or: [{ $and: ['$paid', '$n'] }, { $not: ['$city'] }] }, [true, false, false, true, false]),
  each('$size', { $size: '$tags' }, [2, 2, 0, null, null]),
  each('$week', { $week: { date: '$when', timezone: 'UTC' } }, [0, 1, 52, null, null]),
  each(
    '$dayOfWeek, $minute, $second',
    [{ $dayOfWeek: '$when' }, { $minute: '$when' }, { $second: '$when' }],
    [
      [7, 0, 0],
      [1, 59, 59],
      [4, 59, 59],
      [null, null, null],
      [null, null, null],
    ],
  ),
];

const matches: [sentence: string, match: JsonObject, found: string][] = [
  ['comparison', { n: { $gt: 1, $lte: 5 } }, 'bd'],
  ['$ne and $nin hold for absent values', { city: { $nin: ['Haifa'] }, n: { $ne: 10 } }, 'de'],
  ['$in with null', { city: { $in: ['Haifa', null] } }, 'abd'],
  ['null', { owner: null }, 'de'],
  ['$exists', { tags: { $exists: true }, o: { $exists: false } }, 'b'],
  ['$regex on text', { city: { $regex: '^ei', $options: 'i' } }, 'ce'],
  ['$regex on a place', { 'o.r.s': { $regex: 'n$' } }, 'ad'],
  ['an element of an Array', { tags: 'y' }, 'ab'],
  ['a Pointer in an Array', { tags: { $in: [buyer('b2')] } }, 'b'],
  ['a place', { 'o.q': { $gte: 3 } }, 'c'],
  ['an Object', { o: { q: 1, r: { s: 'in' } } }, 'ad'],
  ['a Pointer as Parse stores it', { _p_owner: 'Buyers$b1' }, 'ab'],
  ['a Date as ISO text', { when: { $lt: '2024-01-07T00:00:00.000Z' } }, 'ac'],
  ['a value of another kind', { n: '1' }, ''],
  ['$or, $nor, $not', { $or: [{ k: 'a' }, { $nor: [{ k: { $not: { $in: ['b', 'c'] } } }] }] }, 'abc'],
  ['an unknown field', { nothing: { $exists: false }, k: 'a' }, 'a'],
];

for (const [title, cases] of Object.entries({ $group: groups, $unwind: unwinds, $project: projections, expressions }))
  for (const [sentence, pipeline, expected] of cases)
    test(`aggregate ${title}: ${sentence}`, () => assert.deepEqual(sales.pipeline(...pipeline), expected));

for (const [sentence, match, found] of matches)
  test(`aggregate $match, over records and over rows: ${sentence}`, () => {
    const names = (...stages: JsonObject[]) =>
      sales
        .pipeline(...stages)
        .map((row) => row.k)
        .join('');
    assert.equal(names({ $limit: 9 }, { $match: match }), found);
    // Over records a dotted name, a storage name and ISO text mean the same.
    assert.equal(names({ $match: match }), found);
  });

test('aggregate: the short form', () => {
  const group = { objectId: '$city', total: { $sum: '$n' } };
  assert.deepEqual(
    sales.run({ group: JSON.stringify(group), sort: '{"total":-1}', limit: '1', where: '{"city":{"$exists":true}}' }),
    [{ objectId: 'Eilat', total: 10 }],
  );
  assert.deepEqual(sales.run({ unwind: '$tags', count: 'n' }), [{ n: 4 }]);
});

test('aggregate: expressions that double from stage to stage do not grow', () => {
  const doubling = Array.from({ length: 49 }, () => ({ $addFields: { n: { $add: ['$n', '$n'] } } }));
  assert.deepEqual(
    sales.pipeline(only('a'), ...doubling).map((row) => row.n),
    [2 ** 49],
  );
});

test('aggregate: rows that multiply meet the time limit', () => {
  let left = 50;
  const stop = new Error('time is up');
  const tick = () => {
    left -= 1;
    if (left < 0) throw stop;
  };
  const many = new SalesTable([{ tags: Array.from({ length: 100 }, (_, at) => at) }], tick);
  const copies = ['a', 'b', 'c', 'd', 'f'];
  const pipeline = [
    { $addFields: Object.fromEntries(copies.map((name) => [name, '$tags'])) },
    ...copies.map((name) => ({ $unwind: `$${name}` })),
    { $count: 'n' },
  ];
  assert.throws(() => many.pipeline(...pipeline), stop);
});
