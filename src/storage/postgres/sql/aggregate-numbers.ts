import { type Fragment, sql } from '../../sql/aggregate/fragment.ts';

/*
 * Numbers are double precision. PostgreSQL ends a statement whose numbers grow too large or too small, where others go on with infinity
 * and zero; so common magnitudes are calculated as they are, and all else as numeric, which has bounds of its own, and brought back.
 * OFFSET 0 keeps operands from being written wherever they are used.
 */

/** What lies beyond is nearer to infinity than to the largest double; below the other, nearer to zero than to the smallest. */
const OVERFLOW = '1.797693134862315807e308';
const UNDERFLOW = '2.5e-324';

/** Doubles beyond are whole numbers. */
const WHOLE = '4503599627370496';

/** Doubles above are whole numbers that bigint does not hold. */
const HUGE = '4e18';
/** Doubles above have no part below 2^-120. */
const TINY = '1e-20';
const STEP = 2 ** 60;
/** 2^-60, written out: a quotient of numerics would be rounded. */
const STEP_DOWN = `0.${(5n ** 60n).toString().padStart(60, '0')}`;

/** A double of the same value as a numeric expression that is written once; infinite where it is too large. */
export function toDouble(numeric: Fragment): Fragment {
  return sql`(SELECT CASE WHEN n.n = 'NaN' THEN NULL WHEN n.n > ${OVERFLOW} THEN 'Infinity'::float8 WHEN n.n < -${OVERFLOW} THEN '-Infinity'::float8 WHEN abs(n.n) < ${UNDERFLOW} THEN 0 ELSE n.n::float8 END FROM (SELECT ${numeric} AS n OFFSET 0) AS n)`;
}

/** A body over the operands `x.a` and `x.b`. */
const over = (a: Fragment, b: Fragment, body: string | Fragment) =>
  sql`(SELECT ${body} FROM (SELECT ${a} AS a, ${b} AS b OFFSET 0) AS x)`;

/** Through text, since the cast keeps 15 digits alone. */
const asNumeric = (double: string) => `${double}::text::numeric`;

const isCommon = (x: string) => `abs(${x}) BETWEEN 1e-150 AND 1e150`;
const areCommon = `${isCommon('x.a')} AND ${isCommon('x.b')}`;
const areFinite = "abs(x.a) < 'Infinity' AND abs(x.b) < 'Infinity'";
const isMissing = 'WHEN x.a IS NULL OR x.b IS NULL THEN NULL';

/** When an operator can be applied as it is, common numbers first; the branches of CASE keep each other from what would raise. */
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

/** See `AggregateDialect.arithmetic`. */
export function arithmetic(operator: '+' | '-' | '*' | '/', a: Fragment, b: Fragment): Fragment {
  const exact = toDouble([`${asNumeric('x.a')} ${operator} ${asNumeric('x.b')}`]);
  const divisor = operator === '/' ? sql`nullif(${b}, 0)` : b;
  return over(a, divisor, sql`${plain[operator]} ${isMissing} ELSE ${exact} END`);
}

/** See `AggregateDialect.remainder`: that of the very values, as C's fmod has it. */
export function remainder(dividend: Fragment, divisor: Fragment): Fragment {
  const isWhole = (x: string) => `(abs(${x}) < 9e15 AND ${x} = trunc(${x}))`;
  const exact = toDouble([`mod(${exactly('x.a')}, nullif(${exactly('x.b')}, 0))`]);
  return over(
    dividend,
    sql`nullif(${divisor}, 0)`,
    sql`CASE WHEN ${isWhole('x.a')} AND ${isWhole('x.b')} THEN (x.a::bigint % x.b::bigint)::float8 WHEN x.a IS NOT NULL AND x.b IS NOT NULL THEN ${exact} END`,
  );
}

/** A number without its fraction, a half away from zero. */
const nearest = (x: string) => `CASE WHEN abs(${x}) < ${WHOLE} THEN sign(${x}) * floor(abs(${x}) + 0.5) ELSE ${x} END`;

/** See `AggregateDialect.round`. */
export function round(number: Fragment, places: number): Fragment {
  const power = `1e${Math.abs(places)}::float8`;
  let body = nearest('x.a');
  if (places > 0) body = `CASE WHEN abs(x.a) < ${WHOLE} THEN round(${exactly('x.a')}, ${places})::float8 ELSE x.a END`;
  if (places < 0)
    body = `CASE WHEN abs(x.a) < 1 THEN 0 WHEN abs(x.a) > 1e300 THEN x.a ELSE (${nearest(`(x.a / ${power})`)}) * ${power} END`;
  return over(number, ['NULL'], body);
}

/** A simple operand rounded to whole milliseconds; NULL beyond what a Date can hold. */
export const toInstant = (number: Fragment): Fragment =>
  sql`CASE WHEN abs(${number}) <= 8.64e15 THEN (sign(${number}) * floor(abs(${number}) + 0.5))::bigint END`;

/** JSON text of a simple operand as JSON.stringify writes it; NULL where it is infinite. */
export const jsonOfNumber = (number: Fragment): Fragment =>
  sql`CASE WHEN abs(${number}) < 1e15 AND ${number} = trunc(${number}) THEN ${number}::bigint::text WHEN abs(${number}) >= 1e-4 AND abs(${number}) < 1e15 THEN ${number}::text WHEN abs(${number}) >= 1e-6 AND abs(${number}) < 1e21 THEN ${number}::text::numeric::text WHEN abs(${number}) < 'Infinity' THEN replace(${number}::text, 'e-0', 'e-') END`;

/**
 * See `AggregateDialect.total`. The sum is that of the very values, rounded once; the embedded engine comes as close by compensation.
 * Whole numbers of 64 bits are summed without loss, and cost little.
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

/** The very value of a double, which may be written again, as numeric; that of a huge or a tiny one to 17 digits. */
function exactly(x: string): string {
  const { whole, first, second } = parts(x);
  return `CASE WHEN ${isSplit(x)} THEN (${whole})::numeric + (${first} + ${second} * ${STEP_DOWN}) * ${STEP_DOWN} ELSE ${asNumeric(x)} END`;
}

/** Whether `parts` holds all of a double. */
const isSplit = (x: string) => `abs(${x}) < ${HUGE} AND (abs(${x}) > ${TINY} OR ${x} = 0)`;

/** A double as three whole numbers: itself, its fraction in 2^-60, and the fraction of that. */
function parts(x: string): { readonly whole: string; readonly first: string; readonly second: string } {
  const fraction = `((${x} - trunc(${x})) * ${STEP}::float8)`;
  return {
    whole: `trunc(${x})::bigint`,
    first: `trunc(${fraction})::bigint`,
    second: `trunc((${fraction} - trunc(${fraction})) * ${STEP}::float8)::bigint`,
  };
}
