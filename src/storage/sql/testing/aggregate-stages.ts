import { type Case, key, only, show, total } from './aggregate-data.ts';
import { buyer, date } from './sales.ts';

export const groups: Case[] = [
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
  [
    '$addToSet in the order of the text',
    [total({ x: { $addToSet: { $cond: [{ $eq: ['$k', 'a'] }, { $literal: [5e-324] }, { $literal: [0.1] }] } } })],
    [{ objectId: null, x: [[0.1], [5e-324]] }],
  ],
  ['a sum beyond all numbers is null', [total({ x: { $sum: { $multiply: ['$n', 1e308] } } })], [{ objectId: null, x: null }]],
  [
    'createdAt is bare under its own name only',
    [only('b'), { $group: { _id: '$createdAt', createdAt: { $max: '$createdAt' } } }],
    [{ objectId: date('1970-01-01T00:00:00.002Z'), createdAt: '1970-01-01T00:00:00.002Z' }],
  ],
];

export const unwinds: Case[] = [
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

export const projections: Case[] = [
  ['places are kept in their objects', [{ $project: { 'o.q': 1, _id: 0 } }, { $limit: 2 }], [{ o: { q: 1 } }, {}]],
  [
    'places of one Object are taken out together',
    [
      only('a'),
      { $addFields: { copy: '$o' } },
      {
        $project: {
          'o.r.s': 0,
          'o.r': 0,
          'o.none.x': 0,
          'o.q.x': 0,
          'copy.q': 0,
          'copy.r.t': 0,
          'copy.r.s': 0,
          tags: 0,
          'tags.x': 0,
        },
      },
      show({ o: 1, copy: 1 }),
    ],
    [{ o: { q: 1 }, copy: { r: {} } }],
  ],
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
