/** Queries and aggregations, as requests. */
import fc from 'fast-check';
import type { Json } from '../../support/oracle.ts';
import { anything, boolean, date, fieldNames, MAIN, mainId, number, OTHER, otherId, scalar, text } from './values.ts';
import { name, pattern, place, where, whereOfOther } from './where.ts';

/** `by` a user's session, or else by the master key. */
export interface Request {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  body?: Json;
  by?: 'user';
}

const pick = <T>(...values: T[]): fc.Arbitrary<T> => fc.constantFrom(...values);
const listed = (of: fc.Arbitrary<string>, maxLength: number) =>
  fc.array(of, { minLength: 1, maxLength }).map((all) => all.join(','));
const signed = fc.tuple(pick('', '-'), name).map(([sign, of]) => sign + of);
const included = pick('p', 'q', 'a', 'l', 'q.p', 'q.q.p', 'l.up', 'l.q', '*', 'p.up.up', 'o', 'r', 'createdBy', 'p.list', 's.x');
const shownName = fc.oneof(
  pick<string>(...fieldNames),
  place,
  included,
  pick('p.name', 'q.s', 'q.o.k', 'l.name', 'unknown', 'createdAt'),
);

const asked = fc.tuple(
  fc.record(
    {
      where,
      order: listed(signed, 3),
      skip: fc.nat(6),
      limit: fc.oneof(fc.nat(6), fc.constant(1000)),
      count: pick<Json>(1, true, 0),
      keys: listed(shownName, 3),
      excludeKeys: listed(shownName, 3),
      include: listed(included, 3),
    },
    { requiredKeys: ['where'] },
  ),
  fc.boolean(),
);
/** Whoever sees some records only gets the relevance of each by itself, on both engines. */
const query = fc.tuple(asked, pick('$score', '-$score', '$score,s', undefined)).map(([[body, user], ranked]): Request => {
  const more =
    user && ranked !== undefined ? { order: ranked, ...(ranked.startsWith('$') && { keys: `$score,${body.keys}` }) } : {};
  return { method: 'GET', path: `classes/${MAIN}`, body: { ...body, ...more } as Json, ...(user && { by: 'user' }) };
});
const queryOfOther = whereOfOther.map(
  (of): Request => ({ method: 'GET', path: `classes/${OTHER}`, body: { where: of, include: 'up,list' } }),
);
const get = fc
  .record({ include: listed(included, 2), keys: listed(shownName, 2) }, { requiredKeys: [] })
  .chain((body) =>
    mainId.map((id): Request => ({ method: 'GET', path: `classes/${MAIN}/${encodeURIComponent(id)}`, body: body as Json })),
  );

const field = fc.oneof(
  { weight: 4, arbitrary: name },
  { weight: 1, arbitrary: pick('x', 'y', 'objectId.k', '_id', '_p_p', 'x.k', 'y.0') },
);
const reference = field.map((of) => `$${of}`);
const parts = ['$year', '$month', '$dayOfMonth', '$hour', '$week', '$dayOfWeek', '$minute', '$second'];
const unary = ['$abs', '$toUpper', '$toLower', '$not', '$size', '$round', ...parts];
const binary = ['$subtract', '$divide', '$mod', '$eq', '$ne', '$gt', '$gte', '$lt', '$lte'];
const many = ['$add', '$multiply', '$concat', '$ifNull', '$and', '$or'];
/** An expression over the row. */
const expression = fc.letrec<{ of: Json }>((tie) => ({
  of: fc.oneof(
    { maxDepth: 3, depthSize: 'small', withCrossShrink: true },
    { weight: 5, arbitrary: reference },
    {
      weight: 2,
      arbitrary: fc.oneof(
        number,
        boolean,
        date,
        text.filter((of) => !of.startsWith('$')),
      ) as fc.Arbitrary<Json>,
    },
    { weight: 2, arbitrary: fc.tuple(pick(...unary), tie('of')).map(([operator, value]): Json => ({ [operator]: value })) },
    {
      weight: 3,
      arbitrary: fc.tuple(pick(...binary), tie('of'), tie('of')).map(([operator, a, b]): Json => ({ [operator]: [a, b] })),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(pick(...many), fc.array(tie('of'), { minLength: 2, maxLength: 3 }))
        .map(([operator, all]): Json => ({ [operator]: all })),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(tie('of'), fc.integer({ min: -3, max: 3 }))
        .map(([value, places]): Json => ({ $round: [value, places] })),
    },
    { weight: 1, arbitrary: fc.tuple(tie('of'), tie('of'), tie('of')).map((all): Json => ({ $cond: all })) },
    { weight: 1, arbitrary: fc.array(tie('of'), { maxLength: 2 }) as fc.Arbitrary<Json> },
    {
      weight: 1,
      arbitrary: fc.dictionary(pick('k', 'é', 'x'), tie('of'), { maxKeys: 2, noNullPrototype: true }) as fc.Arbitrary<Json>,
    },
    { weight: 1, arbitrary: anything.map(($literal): Json => ({ $literal })) },
  ),
})).of;
const accumulator = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .tuple(pick('$sum', '$avg', '$min', '$max', '$first', '$last', '$push'), expression)
      .map(([operator, of]): Json => ({ [operator]: of })),
  },
  // SQLite spells large and small numbers in its own way, and the elements come in the order of their text.
  {
    weight: 1,
    arbitrary: pick<Json>('$s', '$b', '$d', '$p', '$a', '$o', '$o.k', '$o.any', '$l', '$_id').map(
      ($addToSet): Json => ({ $addToSet }),
    ),
  },
  { weight: 1, arbitrary: pick<Json>({ $count: {} }, { $sum: 1 }) },
);
const key = fc.oneof(
  { weight: 4, arbitrary: reference as fc.Arbitrary<Json> },
  { weight: 1, arbitrary: fc.constant<Json>(null) },
  { weight: 2, arbitrary: expression },
  {
    weight: 2,
    arbitrary: fc.dictionary(pick('x', 'y'), expression, { minKeys: 1, maxKeys: 2, noNullPrototype: true }) as fc.Arbitrary<Json>,
  },
);
const comparison = fc.oneof(
  scalar,
  fc.tuple(pick('$eq', '$ne', '$gt', '$gte', '$lt', '$lte'), scalar).map(([operator, of]): Json => ({ [operator]: of })),
  fc.tuple(pick('$in', '$nin'), fc.array(scalar, { maxLength: 3 })).map(([operator, of]): Json => ({ [operator]: of })),
  pattern.map(($regex): Json => ({ $regex })),
  boolean.map(($exists): Json => ({ $exists })),
);
const match = fc.oneof(
  where as fc.Arbitrary<Json>,
  fc.tuple(field, comparison).map(([of, value]): Json => ({ [of]: value })),
);
const outputs = pick('x', 'y', 'n', 'o', 'e');
const stage: fc.Arbitrary<Json> = fc.oneof(
  { weight: 2, arbitrary: match.map(($match): Json => ({ $match })) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(key, fc.dictionary(outputs, accumulator, { maxKeys: 3, noNullPrototype: true }))
      .map(([_id, rest]): Json => ({ $group: { _id, ...rest } as Json })),
  },
  {
    weight: 2,
    arbitrary: fc
      .dictionary(outputs, expression, { minKeys: 1, maxKeys: 3, noNullPrototype: true })
      .map(($project): Json => ({ $project: $project as Json })),
  },
  {
    weight: 1,
    arbitrary: fc
      .uniqueArray(name, { minLength: 1, maxLength: 3 })
      .chain((names) => pick(0, 1).map((on): Json => ({ $project: Object.fromEntries(names.map((of) => [of, on])) }))),
  },
  {
    weight: 2,
    arbitrary: fc
      .dictionary(outputs, expression, { minKeys: 1, maxKeys: 2, noNullPrototype: true })
      .map(($addFields): Json => ({ $addFields: $addFields as Json })),
  },
  {
    weight: 2,
    arbitrary: fc
      .array(fc.tuple(field, pick(1, -1)), { minLength: 1, maxLength: 2 })
      .map((keys): Json => ({ $sort: Object.fromEntries(keys) })),
  },
  { weight: 1, arbitrary: fc.nat(4).map(($skip): Json => ({ $skip })) },
  { weight: 1, arbitrary: fc.nat(6).map(($limit): Json => ({ $limit })) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(reference, fc.record({ includeArrayIndex: outputs, preserveNullAndEmptyArrays: boolean }, { requiredKeys: [] }))
      .map(([path, more]): Json => ({ $unwind: { path, ...more } as Json })),
  },
  { weight: 1, arbitrary: fc.constant<Json>({ $count: 'x' }) },
);
const aggregation = fc
  .tuple(
    fc.oneof(
      { weight: 5, arbitrary: fc.record({ pipeline: fc.array(stage, { minLength: 1, maxLength: 4 }) as fc.Arbitrary<Json> }) },
      {
        weight: 1,
        arbitrary: fc.record(
          {
            where: where as fc.Arbitrary<Json>,
            unwind: reference,
            group: fc.tuple(key, accumulator).map(([_id, x]): Json => ({ _id, x })),
            sort: listed(signed, 2),
            limit: fc.nat(5),
          },
          { requiredKeys: [] },
        ),
      },
    ),
    fc.boolean(),
  )
  .map(
    ([body, user]): Request => ({
      method: 'GET',
      path: `classes-aggregate/${MAIN}`,
      body: body as Json,
      ...(user && { by: 'user' }),
    }),
  );

export const read = fc.oneof(
  { weight: 10, arbitrary: query },
  { weight: 1, arbitrary: queryOfOther },
  { weight: 1, arbitrary: get },
  { weight: 6, arbitrary: aggregation },
);
/** For searches in one direction. */
export const reads = { query, aggregation, get, queryOfOther };
/** All that a record holds, in the order of creation. */
export const whole: Request[] = [
  { method: 'GET', path: `classes/${MAIN}`, body: { limit: 1000, count: 1 } },
  { method: 'GET', path: `classes/${OTHER}`, body: { limit: 1000, count: 1 } },
  { method: 'GET', path: `schemas/${MAIN}` },
];
export { otherId };
