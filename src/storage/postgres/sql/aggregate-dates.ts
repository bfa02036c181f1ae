import { DAY_MS } from '../../../kernel/time.ts';
import type { DatePart } from '../../../query/aggregate/model.ts';
import { type Fragment, sql } from '../../sql/aggregate/fragment.ts';
import { instantOf, isoTextOf } from './instant.ts';

/** Range of dates that PostgreSQL and SQLite both support: from the start of the Julian period to the end of the year 9999. */
const MIN_INSTANT = -210_866_760_000_000;
const MAX_INSTANT = 253_402_300_799_999;

/** Expressions over `d.day`, a date, and `d.rest`, the milliseconds of the day. */
const parts: Readonly<Record<DatePart, string>> = {
  // PostgreSQL has no year 0.
  year: 'extract(year FROM d.day) + (extract(year FROM d.day) < 0)::integer',
  month: 'extract(month FROM d.day)',
  dayOfMonth: 'extract(day FROM d.day)',
  hour: 'd.rest / 3600000',
  minute: 'd.rest / 60000 % 60',
  second: 'd.rest / 1000 % 60',
  week: '(extract(doy FROM d.day)::integer + 6 - extract(dow FROM d.day)::integer) / 7',
  dayOfWeek: 'extract(dow FROM d.day) + 1',
};

/** Implements `AggregateDialect.datePart`; NULL beyond the year 9999, as in SQLite. */
export function datePart(part: DatePart, instant: Fragment): Fragment {
  const split = sql`SELECT i.i, ((i.i % ${String(DAY_MS)}) + ${String(DAY_MS)}) % ${String(DAY_MS)} AS rest FROM (SELECT ${instant} AS i OFFSET 0) AS i WHERE i.i BETWEEN ${String(MIN_INSTANT)} AND ${String(MAX_INSTANT)} OFFSET 0`;
  const day = sql`SELECT date '1970-01-01' + ((r.i - r.rest) / ${String(DAY_MS)})::integer AS day, r.rest FROM (${split}) AS r OFFSET 0`;
  return sql`(SELECT (${parts[part]})::float8 FROM (${day}) AS d)`;
}

/** Wraps an operand in SQL that contains it exactly once. */
function around(write: (operand: string) => string, operand: Fragment): Fragment {
  const hole = '\u0000';
  const [before, after, ...more] = write(hole).split(hole);
  if (before === undefined || after === undefined || more.length > 0) throw new Error('an operand is written more than once');
  return sql`${before}${operand}${after}`;
}

/** Returns SQL of the milliseconds of an ISO text. */
export const instantOfText = (iso: Fragment): Fragment => around(instantOf, iso);

/** Returns SQL of the ISO text of an instant. */
export const isoText = (instant: Fragment): Fragment => around(isoTextOf, instant);
