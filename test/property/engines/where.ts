/** Wheres of every operator over every type and place, now and then ill-formed. */
import fc from 'fast-check';
import type { Json, Where } from '../../support/oracle.ts';
import {
  anything,
  boolean,
  date,
  fieldNames,
  fields,
  label,
  MAIN,
  mainId,
  number,
  OTHER,
  otherId,
  pointer,
  pointerTo,
  scalar,
  text,
} from './values.ts';

const pick = <T>(...values: T[]): fc.Arbitrary<T> => fc.constantFrom(...values);
const one = (operator: string, value: fc.Arbitrary<Json>) => value.map((operand): Where => ({ [operator]: operand }));

const own = ['objectId', 'createdAt', 'updatedAt', 'createdBy', 'ACL', 'unknown'] as const;
/** A dotted place. */
export const place = fc
  .tuple(pick('o', 'o', 'o', 'a', 'l', 'f', 's', 'p'), fc.array(label, { minLength: 1, maxLength: 3 }))
  .map(([name, path]) => [name, ...path].join('.'));
/** A name that a query may speak of. */
export const name = fc.oneof(
  { weight: 3, arbitrary: pick<string>(...fieldNames) },
  { weight: 1, arbitrary: pick<string>(...own) },
  { weight: 2, arbitrary: place },
);

const pieces = [
  'a',
  'b',
  'A',
  '.',
  'a*',
  '[ab]',
  '[^a]',
  '\\.',
  '(a|1)',
  '\\Qa.b\\E',
  'ש',
  'é',
  '\\w',
  '\\W',
  '\\d',
  '\\s',
  '\\b',
  '$',
  '^',
  'a?',
  'o.k',
  '%',
  ' ',
  '#',
  '\\n',
  '\\p{L}',
  '[[:alpha:]]',
  '(?i)a',
  '(?:b|)',
  'a{2}',
  '+',
  '😀',
  '[א-ת]',
  '\\x{e9}',
  '\\pN',
  '[\\d-]',
  'ß',
  'ſ',
  'K',
];
// Beside these a pattern has only what JavaScript reads with its flag `u` too.
const backtracking = ['(?=a)', '(?<!b)', '(a)\\1', '(?!b)', '(?<=a)'];
const strict = [
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
  '😀',
  '\\p{L}',
  '$',
  '^',
];
export const pattern = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .tuple(
        pick('', '', '^', '^\\Q', '\\Q'),
        fc.array(pick(...pieces), { minLength: 1, maxLength: 3 }),
        pick('', '', '$', '\\E', '\\E$'),
      )
      .map(([start, middle, end]) => start + middle.join('') + end),
  },
  { weight: 1, arbitrary: fc.tuple(pick(...strict), pick(...backtracking), pick(...strict)).map((parts) => parts.join('')) },
);
const regex = fc
  .tuple(pattern, pick(undefined, undefined, 'i', 'm', 's', 'x', 'im', 'ix', 'imsx', '', 'g'))
  .map(([$regex, $options]): Where => ($options === undefined ? { $regex } : { $regex, $options }));

const terms = [
  'a',
  'fox',
  'QUICK',
  'brown',
  '"quick brown"',
  '-fox',
  '-"a b"',
  'cafe',
  'café',
  'CAFÉ',
  'שלום',
  'é',
  'E',
  'don',
  "don't",
  'stop',
  'quick-brown',
  '"',
  'ß',
  'SS',
  'ς',
  'σ',
  'İ',
  'i',
  'ﬁ',
  'fi',
  '*',
  'fo*',
  '😀',
  'NOT',
  'AND fox',
  '1',
  '1.0',
  '-1',
  'ǆ',
  '한',
];
const search = fc
  .record(
    {
      $term: fc.array(pick(...terms), { minLength: 1, maxLength: 3 }).map((list) => list.join(' ')),
      $caseSensitive: boolean,
      $diacriticSensitive: boolean,
      $language: pick('en', 'he', 'none'),
    },
    { requiredKeys: ['$term'] },
  )
  .map(($search): Where => ({ $text: { $search } as Json }) as Where);

const range = pick('$lt', '$lte', '$gt', '$gte');
const list = (of: fc.Arbitrary<Json>) => fc.array(of, { maxLength: 4 });
const subWhere = fc.oneof(
  fc.constant<Where>({}),
  fc.tuple(range, fc.integer({ min: 0, max: 3 })).map(([operator, rank]): Where => ({ rank: { [operator]: rank } })),
  text.map((name): Where => ({ name })),
);
const page = fc.record({ limit: fc.nat(3), skip: fc.nat(2) }, { requiredKeys: [] });
const inOther = fc.tuple(subWhere, page).map(([where, more]): Json => ({ className: OTHER, where, ...more }) as Json);

function operandOf(field: string): fc.Arbitrary<Json> {
  const known = Object.hasOwn(fields, field) ? fields[field as 's'] : undefined;
  if (field === 'createdAt' || field === 'updatedAt') return date;
  if (field === 'objectId') return mainId;
  if (field === 'createdBy') return pointer;
  if (!known || known.type === ('Array' as string))
    return fc.oneof({ weight: 4, arbitrary: scalar }, { weight: 1, arbitrary: anything });
  if (known.type === ('Relation' as string)) return pointerTo(OTHER, otherId);
  return fc.oneof(
    { weight: 6, arbitrary: known.of as fc.Arbitrary<Json> },
    { weight: 1, arbitrary: scalar },
    { weight: 1, arbitrary: anything },
  );
}

/** The constraint of one field; sub-queries of the main table take `inner`. */
function constraint(field: string, inner: fc.Arbitrary<Where>): fc.Arbitrary<Json> {
  const operand = operandOf(field);
  const inMain = inner.map((where): Json => ({ className: MAIN, where }));
  const keyed = fc
    .tuple(fc.oneof(inOther, inMain), fc.oneof(pick('name', 'rank', 'up', 'list', 'objectId', 'createdAt'), name))
    .map(([query, key]): Json => ({ query, key }));
  const plain = fc.oneof(
    { weight: 4, arbitrary: operand },
    { weight: 1, arbitrary: fc.constant<Json>(null) },
    { weight: 3, arbitrary: one('$eq', operand) },
    { weight: 3, arbitrary: one('$ne', fc.oneof(operand, fc.constant(null))) },
    { weight: 4, arbitrary: fc.tuple(range, operand).map(([operator, value]): Json => ({ [operator]: value })) },
    { weight: 2, arbitrary: fc.tuple(range, operand, range, operand).map(([a, x, b, y]): Json => ({ [a]: x, [b]: y })) },
    {
      weight: 4,
      arbitrary: fc
        .tuple(pick('$in', '$nin', 'containedIn', 'notContainedIn'), list(fc.oneof(operand, operand, anything)))
        .map(([operator, values]): Json => ({ [operator]: values })),
    },
    { weight: 2, arbitrary: one('$exists', boolean) },
    { weight: 2, arbitrary: one('$all', list(operand)) },
    { weight: 1, arbitrary: one('$all', fc.array(regex as fc.Arbitrary<Json>, { minLength: 1, maxLength: 2 })) },
    { weight: 2, arbitrary: one('$containedBy', fc.array(fc.oneof(operand, scalar), { maxLength: 8 })) },
    { weight: 3, arbitrary: regex },
    {
      weight: 2,
      arbitrary: fc
        .tuple(pick('$inQuery', '$notInQuery'), fc.oneof(inOther, inMain))
        .map(([operator, query]): Json => ({ [operator]: query })),
    },
    {
      weight: 2,
      arbitrary: fc.tuple(pick('$select', '$dontSelect'), keyed).map(([operator, query]): Json => ({ [operator]: query })),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(
          pick(
            '$in',
            '$nin',
            '$all',
            '$containedBy',
            '$exists',
            '$regex',
            '$text',
            '$inQuery',
            '$select',
            '$foo',
            '$relativeTime',
          ),
          anything,
        )
        .map(([operator, value]): Json => ({ [operator]: value })),
    },
  );
  return fc.oneof({ weight: 6, arbitrary: plain }, { weight: 1, arbitrary: plain.map((of): Json => ({ $not: of })) });
}

const members = fc
  .tuple(mainId, pick('r', 's', 'gone'))
  .map(([objectId, key]): Where => ({ $relatedTo: { object: { __type: 'Pointer', className: MAIN, objectId }, key } }));

/** A where of the main table. */
export const where = fc.letrec<{ tree: Where; leaf: Where }>((tie) => ({
  leaf: name.chain((of) => constraint(of, tie('leaf')).map((value): Where => ({ [of]: value }))),
  tree: fc.oneof(
    { maxDepth: 3, depthSize: 'small', withCrossShrink: true },
    tie('leaf'),
    { weight: 4, arbitrary: tie('leaf') },
    fc.array(tie('leaf'), { maxLength: 3 }).map((parts): Where => Object.assign({}, ...parts)),
    fc.tuple(tie('leaf'), search).map(([part, found]): Where => ({ ...part, ...found })),
    search,
    fc
      .tuple(pick('$or', '$and', '$nor'), fc.array(tie('tree'), { minLength: 1, maxLength: 3 }))
      .map(([operator, branches]): Where => ({ [operator]: branches })),
  ),
})).tree;
/** A where of the table of targets: the members of a Relation too. */
export const whereOfOther = fc.oneof(
  subWhere,
  members,
  number.map((rank): Where => ({ rank })),
);
