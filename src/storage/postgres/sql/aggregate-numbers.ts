import { type Fragment, sql } from '../../sql/aggregate/fragment.ts';

/*
 * Numbers are double precision. PostgreSQL raises an error on overflow and underflow, where SQLite continues with infinity and zero. So common
 * magnitudes are computed directly; everything else is computed as numeric, which has wider limits, and converted back.
 * OFFSET 0 prevents the planner from inlining operands, which would evaluate them several times.
 */

/** Values beyond are nearer to infinity than to the largest double; values below the second constant are nearer to zero than to the smallest. */
const OVERFLOW = '1.797693134862315807e308';
const UNDERFLOW = '2.5e-324';

/** Doubles beyond are whole numbers. */
const WHOLE = '4503599627370496';

/** Larger doubles are whole numbers that may exceed bigint. */
const HUGE = '4e18';
/** Larger doubles have no bits below 2^-120. */
const TINY = '1e-20';
const STEP = 2 ** 60;
/** 2^-60, written out, because a quotient of numerics would be rounded. */
const STEP_DOWN = `0.${(5n ** 60n).toString().padStart(60, '0')}`;

/** Converts a numeric expression, which is written once, to a double; infinite on overflow. */
export function toDouble(numeric: Fragment): Fragment {
  return sql`(SELECT CASE WHEN n.n = 'NaN' THEN NULL WHEN n.n > ${OVERFLOW} THEN 'Infinity'::float8 WHEN n.n < -${OVERFLOW} THEN '-Infinity'::float8 WHEN abs(n.n) < ${UNDERFLOW} THEN 0 ELSE n.n::float8 END FROM (SELECT ${numeric} AS n OFFSET 0) AS n)`;
}

/** Evaluates a body withOperands the operands `x.a` and `x.b`, each evaluated once. */
const withOperands = (a: Fragment, b: Fragment, body: string | Fragment) =>
  sql`(SELECT ${body} FROM (SELECT ${a} AS a, ${b} AS b OFFSET 0) AS x)`;

/** Casts through text, since a direct cast keeps only 15 digits. */
const asNumeric = (double: string) => `${double}::text::numeric`;

const isCommon = (x: string) => `abs(${x}) BETWEEN 1e-150 AND 1e150`;
const areCommon = `${isCommon('x.a')} AND ${isCommon('x.b')}`;
const areFinite = "abs(x.a) < 'Infinity' AND abs(x.b) < 'Infinity'";
const isMissing = 'WHEN x.a IS NULL OR x.b IS NULL THEN NULL';

/**
 * Conditions under which an operator can be applied directly, common magnitudes first. CASE ensures that branches which would raise an error are
 * not evaluated.
 */
const plain = {
  '+': 'CASE WHEN abs(x.a) < 8e307 AND abs(x.b) < 8e307 THEN x.a + x.b',
  '-': 'CASE WHEN abs(x.a) < 8e307 AND abs(x.b) < 8e307 THEN x.a - x.b',
  '*':
    `CASE WHEN ${areCommon} THEN x.a * x.b ${isMissing} WHEN ${areFinite} AND (x.a = 0 OR x.b = 0) THEN 0` +
    ` WHEN ${areFinite} AND (abs(x.b) <= 1 OR abs(x.a) <= 1.7e308 / abs(x.b))` +
    ' AND (abs(x.a) >= 1 OR abs(x.b) >= 1 OR abs(x.a) >= 2.3e-308 / abs(x.b)) THEN x.a * x.b',
  '/':
    `CASE WHEN ${areCommon} THEN x.a / x.b ${isMissing} WHEN ${areFinite} AND x.a = 0 THEN 0` +
    ` WHEN ${areFinite} AND (abs(x.b) >= 1 OR abs(x.a) <= 1.7e308 * abs(x.b))` +
    ' AND (abs(x.b) <= 1 OR abs(x.a) >= 2.3e-308 * abs(x.b)) THEN x.a / x.b',
};

/** Implements `AggregateDialect.arithmetic`. */
export function arithmetic(operator: '+' | '-' | '*' | '/', a: Fragment, b: Fragment): Fragment {
  const exact = toDouble([`${asNumeric('x.a')} ${operator} ${asNumeric('x.b')}`]);
  const divisor = operator === '/' ? sql`nullif(${b}, 0)` : b;
  return withOperands(a, divisor, sql`${plain[operator]} ${isMissing} ELSE ${exact} END`);
}

/** Implements `AggregateDialect.remainder`: exact, as fmod in C. */
export function remainder(dividend: Fragment, divisor: Fragment): Fragment {
  const isWhole = (x: string) => `(abs(${x}) < 9e15 AND ${x} = trunc(${x}))`;
  const exact = toDouble([`mod(${exactNumeric('x.a')}, nullif(${exactNumeric('x.b')}, 0))`]);
  return withOperands(
    dividend,
    sql`nullif(${divisor}, 0)`,
    sql`CASE WHEN ${isWhole('x.a')} AND ${isWhole('x.b')} THEN (x.a::bigint % x.b::bigint)::float8 WHEN x.a IS NOT NULL AND x.b IS NOT NULL THEN ${exact} END`,
  );
}

/** Rounds to a whole number, halves away from zero. */
const nearest = (x: string) => `CASE WHEN abs(${x}) < ${WHOLE} THEN sign(${x}) * floor(abs(${x}) + 0.5) ELSE ${x} END`;

/** Implements `AggregateDialect.round`. */
export function round(number: Fragment, places: number): Fragment {
  const power = `1e${Math.abs(places)}::float8`;
  let body = nearest('x.a');
  if (places > 0) body = `CASE WHEN abs(x.a) < ${WHOLE} THEN round(${exactNumeric('x.a')}, ${places})::float8 ELSE x.a END`;
  if (places < 0)
    body = `CASE WHEN abs(x.a) < 1 THEN 0 WHEN abs(x.a) > 1e300 THEN x.a ELSE (${nearest(`(x.a / ${power})`)}) * ${power} END`;
  return withOperands(number, ['NULL'], body);
}

/** Rounds a simple operand to whole milliseconds; NULL outside the range of Date. */
export const toInstant = (number: Fragment): Fragment =>
  sql`CASE WHEN abs(${number}) <= 8.64e15 THEN (sign(${number}) * floor(abs(${number}) + 0.5))::bigint END`;

/** Formats a simple operand as JSON.stringify does; NULL if infinite. */
export const jsonOfNumber = (number: Fragment): Fragment =>
  sql`CASE WHEN abs(${number}) < 1e15 AND ${number} = trunc(${number}) THEN ${number}::bigint::text WHEN abs(${number}) >= 1e-4 AND abs(${number}) < 1e15 THEN ${number}::text WHEN abs(${number}) >= 1e-6 AND abs(${number}) < 1e21 THEN ${number}::text::numeric::text WHEN abs(${number}) < 'Infinity' THEN replace(${number}::text, 'e-0', 'e-') END`;

/**
 * Implements `AggregateDialect.total`. The sum is exact and rounded once; SQLite approximates that by compensated summation. The split into 64-bit
 * integers loses nothing and is cheap.
 */
export function total(which: 'sum' | 'avg', number: Fragment): Fragment {
  const [column] = number as readonly [string];
  const { whole, first, second } = parts(column);
  const sum = (part: string, where: string) => `coalesce(sum(${part}) FILTER (WHERE ${where}), 0)`;
  const split = isSplit(column);
  const exact = `${sum(whole, split)} + (${sum(first, split)} + ${sum(second, split)} * ${STEP_DOWN}) * ${STEP_DOWN} + ${sum(asNumeric(column), `NOT (${split})`)}`;
  const double = sql`CASE WHEN count(${column}) > 0 THEN ${toDouble([exact])} END`;
  return which === 'sum' ? double : arithmetic('/', double, [`count(${column})::float8`]);
}

/** Converts a double, an expression that is written several times, to its exact numeric value; huge and tiny ones to 17 digits. */
function exactNumeric(x: string): string {
  const { whole, first, second } = parts(x);
  return `CASE WHEN ${isSplit(x)} THEN (${whole})::numeric + (${first} + ${second} * ${STEP_DOWN}) * ${STEP_DOWN} ELSE ${asNumeric(x)} END`;
}

/** Whether `parts` represents a double exactNumeric. */
const isSplit = (x: string) => `abs(${x}) < ${HUGE} AND (abs(${x}) > ${TINY} OR ${x} = 0)`;

/** Splits a double into three whole numbers: its integer part, its fraction in units of 2^-60, and the fraction of that. */
function parts(x: string): { readonly whole: string; readonly first: string; readonly second: string } {
  const fraction = `((${x} - trunc(${x})) * ${STEP}::float8)`;
  return {
    whole: `trunc(${x})::bigint`,
    first: `trunc(${fraction})::bigint`,
    second: `trunc((${fraction} - trunc(${fraction})) * ${STEP}::float8)::bigint`,
  };
}
