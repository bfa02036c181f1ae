/** Records of the tests of hidden rows, and the requests about them. */
import { date, type Json, pointer } from '../support/records.ts';

export interface Question {
  method: string;
  path: string;
  query?: Record<string, unknown>;
  body?: unknown;
}

const text = (term: string) => ({ $text: { $search: { $term: term } } });

/** Requests about a table `T`, directly and by way of `R`, whose records point at visible, hidden and missing records of `T`. */
export function questionsOf(T: string, R: string): Question[] {
  const h1 = pointer(T, 'hidden1');
  const everyone = { className: T, where: {} };
  const wheres: object[] = [
    {},
    { n: 1 },
    { n: { $gt: 0 } },
    { n: { $lte: 2, $ne: 1 } },
    { n: { $nin: [1, 7] } },
    { n: { $exists: false } },
    { title: { $regex: 'a' } },
    { title: { $in: ['alpha beta', 'gamma secret'] } },
    { title: text('alpha') },
    { title: text('secret gamma') },
    { flag: true },
    { day: { $gte: date('2020-01-01T00:00:00.000Z') } },
    { tags: 'x' },
    { tags: { $all: ['x', 'y'] } },
    { tags: { $containedBy: ['x', 'y', 'z'] } },
    { 'o.a': { $gt: 0 } },
    { o: { $exists: true } },
    { link: h1 },
    { link: { $inQuery: everyone } },
    { link: { $notInQuery: everyone } },
    { link: { $inQuery: { className: T, where: { n: { $gt: 1 } }, limit: 1 } } },
    { 'link.title': { $gte: 'a' } },
    { 'link.link.n': { $exists: false } },
    { $nor: [{ 'link.n': { $gt: 1 } }] },
    { title: { $select: { query: everyone, key: 'title' } } },
    { title: { $dontSelect: { query: { className: T, where: { n: { $gt: 1 } } }, key: 'title' } } },
    { rel: h1 },
    { rel: { $inQuery: everyone } },
    { $relatedTo: { object: h1, key: 'rel' } },
    { $relatedTo: { object: pointer(R, 'ref1'), key: 'rel' } },
    { $or: [{ n: 1 }, { title: { $regex: 'secret' } }] },
    { $nor: [{ n: 1 }] },
    { objectId: 'hidden1' },
    { objectId: { $in: ['hidden1', 'seen1'] } },
  ];

  const pipelines: object[][] = [
    [{ $count: 'all' }],
    [{ $group: { _id: null, n: { $sum: '$n' }, a: { $avg: '$n' }, lo: { $min: '$n' }, hi: { $max: '$title' }, c: { $sum: 1 } } }],
    [{ $group: { _id: null, f: { $first: '$title' }, l: { $last: '$title' }, p: { $push: '$n' }, s: { $addToSet: '$flag' } } }],
    [{ $group: { _id: '$flag', c: { $count: {} } } }],
    [{ $group: { _id: { y: { $year: '$day' }, t: '$title' }, n: { $sum: '$n' } } }],
    [{ $match: { n: { $gt: 1 } } }, { $sort: { n: -1 } }, { $limit: 2 }, { $project: { title: 1, n: 1 } }],
    [{ $match: { link: { $inQuery: everyone } } }, { $count: 'all' }],
    [{ $sort: { title: -1 } }, { $skip: 1 }, { $limit: 1 }],
    [{ $unwind: '$tags' }, { $group: { _id: '$tags', c: { $sum: 1 } } }],
    [{ $group: { _id: '$link', c: { $sum: 1 } } }],
    [{ $addFields: { twice: { $multiply: ['$n', 2] } } }, { $match: { twice: { $gt: 2 } } }],
  ];
  const shortForms: Record<string, unknown>[] = [
    { group: { _id: '$flag', total: { $sum: '$n' } }, sort: '-total' },
    { project: 'title,n', sort: '-n', limit: 1 },
    { where: { n: { $gt: 0 } }, count: 'all' },
    { unwind: '$tags', group: { objectId: '$tags' }, sort: 'objectId' },
  ];

  const list = (query: Record<string, unknown>, table = T): Question => ({
    method: 'GET',
    path: `/platform/classes/${table}`,
    query,
  });
  const aggregate = (query: Record<string, unknown>): Question => ({
    method: 'GET',
    path: `/platform/classes-aggregate/${T}`,
    query,
  });
  const one = (method: string, id: string, body?: unknown, query: Record<string, unknown> = {}): Question => {
    return { method, path: `/platform/classes/${T}/${id}`, query, body };
  };

  const many = (method: string, query: Record<string, unknown>, body?: unknown): Question => {
    return { method, path: `/platform/classes/${T}`, query, body };
  };

  return [
    ...wheres.flatMap((where) => [
      list({ where, count: 1 }),
      list({ where, count: 1, limit: 0 }),
      list({ where, limit: 1, skip: 1, order: '-n,title' }),
      aggregate({ where, pipeline: [{ $count: 'all' }] }),
    ]),
    ...['title', 'n', 'flag', 'day', 'tags', 'o', 'link', 'createdAt', 'link.title', 'link.link.n'].flatMap((order) => [
      list({ order, count: 1 }),
      list({ order: `-${order}`, keys: order, limit: 2 }),
    ]),
    ...['to.title', '-to.n,title', 'to.o.a', '-to.day', 'to.link.title', '-to.objectId', 'to.link'].map((order) =>
      list({ order, keys: 'objectId' }, R),
    ),
    ...[{ 'to.title': { $regex: 'secret' } }, { 'to.n': { $exists: false } }, { 'to.link.flag': true }].flatMap((where) => [
      list({ where, count: 1 }, R),
      list({ where: { $nor: [where] } }, R),
    ]),
    ...['alpha', 'alpha beta', 'secret alpha', '"alpha beta" gamma'].map((term) =>
      list({ where: { title: text(term) }, keys: 'title,$score', order: '$score', count: 1 }),
    ),
    ...pipelines.map((pipeline) => aggregate({ pipeline })),
    ...shortForms.map(aggregate),
    list({ include: 'link,link.link' }),
    ...['to', 'list', 'to.link', '*'].map((include) => list({ include, order: 'title' }, R)),
    list({ keys: 'to.title,list.n' }, R),
    ...[everyone, { ...everyone, where: { title: { $regex: 'secret' } } }].flatMap((query) =>
      ['to', 'list', 'rel'].flatMap((field) => [
        list({ where: { [field]: { $inQuery: query } } }, R),
        list({ where: { [field]: { $notInQuery: query } } }, R),
      ]),
    ),
    list({ where: { title: { $select: { query: everyone, key: 'title' } } } }, R),
    one('GET', 'hidden1'),
    one('GET', 'hidden2', undefined, { include: 'link' }),
    one('PUT', 'hidden1', { n: 5 }),
    one('PUT', 'hidden1', { n: { __op: 'Increment', amount: 0 }, title: { __op: 'SetOnInsert', amount: '' } }),
    one('PUT', 'hidden1', { rel: { __op: 'AddRelation', objects: [h1] } }),
    one('DELETE', 'hidden1'),
    ...wheres.flatMap((where) => [many('PUT', { where, dryRun: 1 }, { n: 1 }), many('DELETE', { where, dryRun: 1 })]),
    many('PUT', { where: { objectId: { $in: ['hidden1', 'hidden2'] } } }, { n: 5 }),
    many('DELETE', { where: { objectId: 'hidden1' } }),
    many('DELETE', { where: { title: { $regex: 'secret$' }, n: { $lt: 0 } }, expect: 0 }),
  ];
}

/** Records that the caller may read. */
export const visibleIn = (T: string): Json[] => [
  {
    title: 'alpha beta',
    n: 1,
    flag: true,
    tags: ['x'],
    o: { a: 1 },
    link: pointer(T, 'hidden1'),
    day: date('2021-05-05T00:00:00.000Z'),
  },
  { title: 'beta secret', n: 2, flag: false, tags: ['y', 'z'], link: pointer(T, 'seen1'), day: date('2022-05-05T00:00:00.000Z') },
  {
    title: 'alpha gamma',
    n: 3,
    o: { a: 2 },
    rel: { __op: 'AddRelation', objects: ['hidden1', 'seen1'].map((id) => pointer(T, id)) },
  },
];

/** Hidden records, added step by step. */
export const hiddenIn = (T: string): Json[][] => [
  [
    {
      title: 'alpha beta',
      n: 1,
      flag: true,
      tags: ['x', 'y'],
      o: { a: 1 },
      link: pointer(T, 'seen1'),
      day: date('2021-05-05T00:00:00.000Z'),
    },
    {
      title: 'secret',
      n: 2,
      link: pointer(T, 'hidden1'),
      rel: { __op: 'AddRelation', objects: ['hidden1', 'seen1'].map((id) => pointer(T, id)) },
    },
  ],
  [
    { title: 'gamma secret', n: -1e9, tags: [], o: { a: 9 } },
    { title: 'aaa', n: 1e9, flag: false, day: date('1970-01-01T00:00:00.000Z') },
    { title: 'zzz alpha alpha alpha', tags: ['x', 'w'], link: pointer(T, 'seen2') },
    { n: 2.5 },
  ],
];
