/** Aggregations: pipelines of every stage and operator, and the short form. */
import fc from 'fast-check';
import type { Json } from '../../support/oracle.ts';
import { commaList, list, type Made, map, pick, pickWord, some, under, weighted } from './draw.ts';
import { MAIN, type Request } from './request.ts';
import { anything, boolean, date, number, scalar, text } from './values.ts';
import { name, pattern, where } from './where.ts';

const field = weighted([4, name], [1, pickWord('x y objectId.k _id _p_p x.k y.0')]);
const reference = field.map((of) => `$${of}`);
const literal: Made = fc.oneof(
  number,
  boolean,
  date,
  text.filter((of) => !of.startsWith('$')),
);
const parts = '$year $month $dayOfMonth $hour $week $dayOfWeek $minute $second';
const unary = pickWord(`$abs $toUpper $toLower $not $size $round ${parts}`);
const binary = pickWord('$subtract $divide $mod $eq $ne $gt $gte $lt $lte');
const several = pickWord('$add $multiply $concat $ifNull $and $or');
/** An expression over the row. */
const { of: expression } = fc.letrec<{ of: Json }>((tie) => ({
  of: fc.oneof(
    { maxDepth: 3, depthSize: 'small', withCrossShrink: true },
    { weight: 5, arbitrary: reference },
    { weight: 2, arbitrary: literal },
    { weight: 2, arbitrary: under(unary, tie('of')) },
    { weight: 3, arbitrary: under(binary, list(tie('of'), 2, 2)) },
    { weight: 2, arbitrary: under(several, list(tie('of'), 3, 2)) },
    // No negative places: PostgreSQL keeps every digit of numbers near the maximum.
    under(pick('$round'), fc.tuple(tie('of'), fc.nat(3)) as Made),
    under(pick('$cond'), list(tie('of'), 3, 3)),
    under(pick('$literal'), anything),
  ),
}));
// SQLite writes numbers inside arrays and objects in its own form, and they are sorted by that text; so they are computed only in the stage that
// returns them.
const compound = fc.oneof(list(expression, 2), map(pickWord('k é x'), expression, 2) as Made);
const value = weighted([5, expression], [1, compound]);

const accumulator = weighted<Json>(
  [7, under(pickWord('$sum $avg $min $max $first $last'), expression)],
  [2, under(pick('$push'), value)],
  [1, under(pick('$addToSet'), pickWord('$s $b $d $p $a $o $o.k $o.any $l $_id'))],
  [1, pick<Json>({ $count: {} }, { $sum: 1 })],
);
const key = weighted<Json>([4, reference], [1, fc.constant(null)], [2, expression], [2, map(pickWord('x y'), expression, 2, 1)]);
const group = fc.tuple(key, map(pickWord('x y n o e'), accumulator, 3)).map(([_id, rest]): Json => ({ _id, ...rest }));

const comparison = fc.oneof<Made[]>(
  scalar,
  under(pickWord('$eq $ne $gt $gte $lt $lte'), scalar),
  under(pickWord('$in $nin'), list(scalar, 3)),
  under(pick('$regex'), pattern),
  under(pick('$exists'), boolean),
);
const kept = fc
  .tuple(fc.uniqueArray(name, { minLength: 1, maxLength: 3 }), pick(0, 1))
  .map(([names, on]): Json => Object.fromEntries(names.map((of) => [of, on])));
const keys = fc.array(fc.tuple(field, pick(1, -1)), { minLength: 1, maxLength: 2 }).map((all): Json => Object.fromEntries(all));
const unwinding = fc
  .tuple(reference, some({ includeArrayIndex: pickWord('x y n o e'), preserveNullAndEmptyArrays: boolean }))
  .map(([path, more]): Json => ({ path, ...more }));
const computed = map(pickWord('x y n o e'), expression, 3, 1) as Made;
const stage = weighted<Json>(
  [2, under(pick('$match'), fc.oneof<Made[]>(where, under(field, comparison)))],
  [3, under(pick('$group'), group)],
  [2, under(pick('$project'), computed)],
  [1, under(pick('$project'), kept)],
  [2, under(pick('$addFields'), computed)],
  [2, under(pick('$sort'), keys)],
  [2, under(pickWord('$skip $limit'), fc.nat(6))],
  [2, under(pick('$unwind'), unwinding)],
  [1, under(pick('$count'), pick('x'))],
);
// No later stage reads the fields of the last stage.
const last = under(pickWord('$project $addFields'), map(pickWord('x y n o e'), value, 3, 1) as Made);
const pipeline = fc
  .tuple(fc.array(stage, { minLength: 1, maxLength: 4 }), fc.option(last))
  .map(([stages, shown]): { [name: string]: Json } => ({ pipeline: shown === null ? stages : [...stages, shown] }));
const short = some({
  where,
  unwind: reference,
  group,
  sort: commaList(
    fc.tuple(pick('', '-'), name).map((sides) => sides.join('')),
    2,
  ),
  limit: fc.nat(5),
});

export const aggregation = fc
  .tuple(weighted([5, pipeline], [1, short]), fc.boolean())
  .map(([body, byUser]): Request => ({ method: 'GET', path: `classes-aggregate/${MAIN}`, body, byUser }));
