/** Wheres of every operator over every type and place, now and then ill-formed. */
import fc from 'fast-check';
import type { Json, Where } from '../../support/oracle.ts';
import { list, type Made, pick, pickWord, some, under, weighted } from './draw.ts';
import { MAIN, OTHER } from './request.ts';
import {
  anything,
  boolean,
  date,
  fieldName,
  fields,
  label,
  mainId,
  number,
  otherId,
  pointer,
  pointerTo,
  scalar,
  text,
} from './values.ts';

/** A dotted path. */
export const place = fc
  .tuple(pickWord('o o o a l f s p'), fc.array(label, { minLength: 1, maxLength: 3 }))
  .map(([name, path]) => [name, ...path].join('.'));
/** A name that a query may contain. */
export const name = weighted([3, fieldName], [1, pickWord('objectId createdAt updatedAt createdBy ACL unknown')], [2, place]);

const common = [
  'a',
  'b',
  'A',
  '.',
  'a*',
  '[ab]',
  '[^a]',
  '\\.',
  '(a|1)',
  'ש',
  'é',
  '\\w',
  '\\d',
  '\\s',
  '\\b',
  '$',
  '^',
  '😀',
  '\\p{L}',
];
const linear = [
  '\\Qa.b\\E',
  '\\W',
  'a?',
  'o.k',
  '%',
  ' ',
  '#',
  '\\n',
  '[[:alpha:]]',
  '(?i)a',
  '(?:b|)',
  'a{2}',
  '+',
  '[א-ת]',
  '\\x{e9}',
];
const folds = ['\\pN', '[\\d-]', 'ß', 'ſ', 'K'];
/** Apart from these, a pattern contains only syntax that JavaScript also accepts with its flag `u`. */
const backtracking = ['(?=a)', '(?<!b)', '(a)\\1', '(?!b)', '(?<=a)'];
export const pattern = weighted(
  [
    5,
    fc
      .tuple(
        pick('', '', '^', '^\\Q', '\\Q'),
        fc.array(pick(...common, ...linear, ...folds), { minLength: 1, maxLength: 3 }),
        pick('', '', '$', '\\E', '\\E$'),
      )
      .map(([start, middle, end]) => start + middle.join('') + end),
  ],
  [1, fc.tuple(pick(...common), pick(...backtracking), pick(...common)).map((parts) => parts.join(''))],
);
const options = pick(undefined, undefined, 'i', 'm', 's', 'x', 'im', 'ix', 'imsx', '', 'g');
const regex = fc
  .tuple(pattern, options)
  .map(([$regex, $options]): Json => ($options === undefined ? { $regex } : { $regex, $options }));

const words =
  'a fox QUICK brown -fox cafe café CAFÉ שלום é E don don\'t stop quick-brown " ß SS ς σ İ i ﬁ fi * fo* 😀 NOT AND 1 1.0 -1 ǆ 한'.split(
    ' ',
  );
const term = fc.array(pick('"quick brown"', '-"a b"', ...words), { minLength: 1, maxLength: 3 }).map((parts) => parts.join(' '));
const search = some(
  { $term: term, $caseSensitive: boolean, $diacriticSensitive: boolean, $language: pickWord('en he none') },
  '$term',
).map(($search): Where => ({ $text: { $search } }));

const range = pickWord('$lt $lte $gt $gte');
const whereOfRank: fc.Arbitrary<Where> = fc.oneof(
  fc.constant({}),
  under(range, fc.integer({ min: 0, max: 3 })).map((rank) => ({ rank })),
  text.map((of) => ({ name: of })),
);
const page = some({ limit: fc.nat(3), skip: fc.nat(2) });
const inOther = fc.tuple(whereOfRank, page).map(([of, more]): Json => ({ className: OTHER, where: of, ...more }));

const relative = under(pick('$relativeTime'), pick('now', '3 days ago', 'in 2 weeks', '31 years ago', 'then'));

function operandOf(name: string): Made {
  if (name === 'createdAt' || name === 'updatedAt' || name === 'd') return weighted([9, date], [1, relative], [1, anything]);
  if (name === 'objectId') return mainId;
  if (name === 'createdBy') return pointer;
  const field = fields.get(name);
  if (!field || field.type === 'Array') return weighted([4, scalar], [1, anything]);
  if (field.type === 'Relation') return pointerTo(OTHER, otherId);
  return weighted([6, field.of], [1, scalar], [1, anything]);
}

/** Draws the constraint of one field. @param inner wheres for sub-queries of the main table */
function constraint(field: string, inner: fc.Arbitrary<Where>): Made {
  const operand = operandOf(field);
  const rows = fc.oneof(
    inOther,
    inner.map((of): Json => ({ className: MAIN, where: of })),
  );
  const keyed = fc
    .tuple(rows, fc.oneof(pickWord('name rank up list objectId createdAt'), name))
    .map(([query, key]): Json => ({ query, key }));
  const plain = weighted<Json>(
    [4, operand],
    [1, fc.constant(null)],
    [6, under(pickWord('$eq $ne'), weighted([9, operand], [1, fc.constant(null)]))],
    [4, under(range, operand)],
    [2, fc.tuple(under(range, operand), under(range, operand)).map(([a, b]) => ({ ...(a as object), ...(b as object) }))],
    [4, under(pickWord('$in $nin containedIn notContainedIn'), list(weighted([2, operand], [1, anything]), 4))],
    [1, under(pickWord('$in $nin $all $containedBy'), list(fc.oneof(operand, scalar), 40, 15))],
    [2, under(pick('$exists'), boolean)],
    [2, under(pick('$all'), list(operand, 4))],
    [1, under(pick('$all'), list(regex, 2, 1))],
    [2, under(pick('$containedBy'), list(fc.oneof(operand, scalar), 8))],
    [3, regex],
    [2, under(pickWord('$inQuery $notInQuery'), rows)],
    [2, under(pickWord('$select $dontSelect'), keyed)],
    [1, under(pickWord('$in $nin $all $containedBy $exists $regex $text $inQuery $select $foo $relativeTime'), anything)],
  );
  return weighted([6, plain], [1, under(pick('$not'), plain)]);
}

/** A where of the main table. */
export const { tree: where } = fc.letrec<{ tree: Where; leaf: Where }>((tie) => ({
  leaf: name.chain((of) => constraint(of, tie('leaf')).map((value): Where => ({ [of]: value }))),
  tree: fc.oneof(
    { maxDepth: 3, depthSize: 'small', withCrossShrink: true },
    { weight: 5, arbitrary: tie('leaf') },
    fc.array(tie('leaf'), { maxLength: 3 }).map((parts): Where => Object.assign({}, ...parts)),
    fc.tuple(tie('leaf'), search).map(([part, found]): Where => ({ ...part, ...found })),
    search,
    under(pickWord('$or $and $nor'), list(tie('tree'), 3, 1)) as fc.Arbitrary<Where>,
  ),
}));

const owner = fc
  .tuple(mainId, pickWord('r s gone'))
  .map(([objectId, key]): Json => ({ object: { __type: 'Pointer', className: MAIN, objectId }, key }));
/** A where of the target table, for the members of a Relation too. */
export const whereOfOther: fc.Arbitrary<Where> = fc.oneof(
  whereOfRank,
  number.map((rank) => ({ rank })),
  owner.map(($relatedTo) => ({ $relatedTo })),
);
