import type { JsonObject } from '../../../kernel/json.ts';
import { type Case, each } from './aggregate-data.ts';
import { buyer, date } from './sales.ts';

export const expressions: Case[] = [
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

export const matches: [sentence: string, match: JsonObject, found: string][] = [
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
