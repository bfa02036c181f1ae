/** Queries, and reads of one record, as requests. */
import fc from 'fast-check';
import type { Json } from '../../support/oracle.ts';
import { aggregation } from './aggregations.ts';
import { commaList, pick, pickWord, some, weighted } from './draw.ts';
import { classPath, MAIN, OTHER, type Request } from './request.ts';
import { fieldName, mainId } from './values.ts';
import { name, place, where, whereOfOther } from './where.ts';

export const signed = fc.tuple(pick('', '-'), name).map(([sign, of]) => sign + of);
const included = pickWord('p q a l q.p q.q.p l.up l.q * p.up.up o r createdBy p.list s.x');
const shown = fc.oneof(fieldName, place, included, pickWord('p.name q.s q.o.k l.name unknown createdAt'));

const parameters = some(
  {
    where,
    order: commaList(signed, 3),
    skip: weighted([9, fc.nat(6)], [1, pick(2 ** 31, Number.MAX_SAFE_INTEGER, 1e20)]),
    limit: weighted([5, fc.nat(6)], [5, fc.constant(1000)], [1, pick(2 ** 31, Number.MAX_SAFE_INTEGER, 1e20)]),
    count: pick<Json>(1, true, 0),
    keys: commaList(shown, 3),
    excludeKeys: commaList(shown, 3),
    include: commaList(included, 3),
  },
  'where',
);
const query = parameters.map((body): Request => ({ method: 'GET', path: classPath(MAIN), body }));
/** For a caller who sees only some of the records, each relevance is computed separately, on both engines. */
const queryByUser = fc.tuple(parameters, pick('$score', '-$score,s', undefined)).map(
  ([{ order, keys, ...rest }, ranked]): Request => ({
    method: 'GET',
    path: classPath(MAIN),
    byUser: true,
    body: { ...rest, ...(ranked === undefined ? {} : { order: ranked, keys: '$score,s,h' }) },
  }),
);
const queryOfOther = whereOfOther.map(
  (of): Request => ({ method: 'GET', path: classPath(OTHER), body: { where: of, include: 'up,list' } }),
);
const get = fc
  .tuple(mainId, some({ include: commaList(included, 2), keys: commaList(shown, 2) }), fc.boolean())
  .map(([id, body, byUser]): Request => ({ method: 'GET', path: classPath(MAIN, id), body, byUser }));

export const read = weighted([5, query], [5, queryByUser], [1, queryOfOther], [1, get], [6, aggregation]);

const all = { limit: 1000, count: 1 };
/** Reads all records of both tables in the order of creation, and their fields. */
export const everything: Request[] = [
  { method: 'GET', path: classPath(MAIN), body: all },
  { method: 'GET', path: classPath(OTHER), body: all },
  { method: 'GET', path: `schemas/${MAIN}` },
];
