/** Requests about fields: some name no hidden field, others name one in every possible place. */
import { pointer } from '../support/records.ts';

export const T = 'Staff';
export const R = 'Reports';

export const path = `/platform/classes/${T}`;
export const aggregate = `/platform/classes-aggregate/${T}`;
export type Asked = [method: string, path: string, query: Record<string, unknown>, body?: object];

/** Requests about the table that name no hidden field. */
export const openQuestions: Asked[] = [
  ['GET', path, { count: 1 }],
  ['GET', path, { order: '-name', include: '*' }],
  ['GET', path, { keys: 'name', excludeKeys: 'pay' }],
  ['GET', path, { where: { name: { $gt: 'a' } }, include: 'owner' }],
  ['GET', `${path}/one`, {}],
  ['GET', `${path}/one`, { include: '*' }],
  ['GET', aggregate, {}],
  ['GET', aggregate, { pipeline: [{ $group: { _id: '$name', c: { $sum: 1 } } }] }],
  ['GET', aggregate, { pipeline: [{ $addFields: { x: 1 } }, { $sort: { name: 1 } }, { $project: { updatedAt: 0 } }] }],
  ['GET', `/platform/classes/${R}`, { include: 'about,about.boss,many' }],
  ['GET', `/platform/classes/${R}`, { include: '*', keys: 'about' }],
  ['GET', `/platform/classes/${R}`, { where: { about: { $inQuery: { className: T, where: { name: 'one' } } } } }],
  ['GET', `/platform/classes/${R}`, { where: { 'about.name': 'one' }, order: '-about.name' }],
  ['GET', `/platform/classes/${R}`, { where: { text: { $select: { query: { className: T }, key: 'name' } } } }],
];

export const elsewhere = `/platform/classes/${R}`;
const aggregateElsewhere = `/platform/classes-aggregate/${R}`;
/** A condition on the other table that refers to this one. */
export const inTable = (where: object) => ({ about: { $inQuery: { className: T, where } } });

/** Requests with the name of the hidden field `f` in every possible place. */
export function naming(f: string): Asked[] {
  const wheres: object[] = [
    ...[
      1,
      null,
      'x',
      { $exists: true },
      { $ne: 1 },
      { $gt: 0 },
      { $in: [1] },
      { $regex: '^x' },
      { $all: [1] },
      { $not: { $eq: 1 } },
    ].map((constraint) => ({ [f]: constraint })),
    { [`${f}.a`]: 1 },
    { $or: [{ name: 'one' }, { [f]: 1 }] },
    { $nor: [{ $and: [{ [f]: { $exists: false } }] }] },
    { [f]: { $inQuery: { className: T, where: {} } } },
    { [f]: pointer(T, 'two') },
    { boss: { $inQuery: { className: T, where: { [f]: 1 } } } },
    { name: { $select: { query: { className: T }, key: f } } },
    { name: { $dontSelect: { query: { className: T, where: { [f]: 1 } }, key: 'name' } } },
    { $relatedTo: { object: pointer(T, 'one'), key: f } },
  ].filter((where) => f === 'boss' || !('boss' in where));
  const stages: object[][] = [
    [{ $group: { _id: `$${f}` } }],
    [{ $group: { _id: null, v: { $push: `$${f}` } } }],
    [{ $group: { _id: { y: { $year: `$${f}` } } } }],
    [{ $match: { [f]: 1 } }],
    [{ $limit: 5 }, { $match: { [f]: 1 } }],
    [{ $sort: { [f]: -1 } }],
    [{ $project: { [f]: 1 } }],
    [{ $project: { v: `$${f}` } }],
    [{ $project: { v: `$${f}.a` } }],
    [{ $addFields: { v: { $ifNull: [`$${f}`, 0] } } }],
    [{ $addFields: { v: { $cond: [{ $gt: [`$${f}`, 1] }, 1, 0] } } }],
    [{ $unwind: `$${f}` }],
  ];
  return [
    ...wheres.map((where): Asked => ['GET', path, { where }]),
    ...wheres.slice(0, 12).map((where): Asked => ['GET', path, { where, count: 1, limit: 0 }]),
    ...wheres.slice(0, 12).map((where): Asked => ['GET', elsewhere, { where: inTable(where) }]),
    ...wheres.slice(0, 4).map((where): Asked => ['GET', aggregate, { where, pipeline: [{ $count: 'n' }] }]),
    ...stages.map((pipeline): Asked => ['GET', aggregate, { pipeline }]),
    ...[{ group: { _id: `$${f}` } }, { project: f }, { sort: `-${f}` }, { unwind: `$${f}` }].map(
      (short): Asked => ['GET', aggregate, short],
    ),
    ['GET', path, { order: f }],
    ['GET', path, { order: `name,-${f}` }],
    ['GET', elsewhere, { where: { [`about.${f}`]: { $exists: true } } }],
    ['GET', elsewhere, { order: `text,-about.${f}` }],
    ['GET', elsewhere, { order: `about.${f}.a` }],
    ['GET', aggregateElsewhere, { pipeline: [{ $match: { [`about.${f}`]: 1 } }, { $count: 'n' }] }],
    ['GET', path, { keys: `name,${f}` }],
    ['GET', path, { keys: `${f}.a` }],
    ['GET', `${path}/one`, { keys: f }],
    ['GET', `${path}/one`, { include: f }],
    ['GET', path, { include: `${f}.name` }],
    ['PUT', path, { where: { [f]: 1 } }, { name: 'changed' }],
    ['PUT', path, { where: { [f]: { $exists: true } }, dryRun: 1 }, {}],
    ['PUT', path, { where: { name: 'one' } }, { [f]: null }],
    ['DELETE', path, { where: { [f]: { $exists: true } } }],
    ['PUT', `${path}/one`, {}, { [f]: null }],
    ['PUT', `${path}/one`, {}, { [f]: { __op: 'Increment', amount: 0 } }],
    ['PUT', `${path}/one`, {}, { [f]: { __op: 'SetOnInsert', amount: 1 } }],
    ['PUT', `${path}/one`, {}, { name: 'changed', [`${f}.a`]: 1 }],
    ['POST', path, {}, { name: 'new', [f]: 1 }],
  ];
}
