import { DAY_MS } from '../../../kernel/time.ts';

/*
 * Instants (milliseconds since 1970) and ISO 8601 text, by integer arithmetic: the range of years exceeds PostgreSQL's timestamps, a failed cast
 * would abort the statement, and the service adds no functions of its own for this. Days and dates are converted as in H. Hinnant's
 * "chrono-Compatible Low-Level Date Algorithms": years begin in March and are counted in eras of 400.
 * OFFSET 0 prevents the planner from inlining one step into the next, which would repeat it.
 */

const MAX_INSTANT = 8_640_000_000_000_000;
const MAX_TEXT_LENGTH = 40;
const DAYS_PER_ERA = 146_097;
/** Days from 1 March of the year 0 to 1 January 1970. */
const EPOCH_DAYS = 719_468;

/** The forms that values/json/iso.ts accepts. */
const isoForm =
  '^([0-9]{4}|[+][0-9]{6}|-[0-9]{6})-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,9})?)?(Z|[+-][0-9]{2}:[0-9]{2})?)?$';

const leap = '(d.year % 4 = 0 AND (d.year % 100 <> 0 OR d.year % 400 = 0))';
const lastDay = `CASE WHEN d.month IN (4, 6, 9, 11) THEN 30 WHEN d.month <> 2 THEN 31 WHEN ${leap} THEN 29 ELSE 28 END`;
/** The end of a day may be written as 24:00. */
const isTime =
  '(d.hour < 24 OR (d.hour = 24 AND d.minute = 0 AND d.second = 0 AND d.fraction = 0)) AND d.minute < 60 AND d.second < 60';
const isValid = `d.month BETWEEN 1 AND 12 AND d.day BETWEEN 1 AND ${lastDay} AND ${isTime} AND d.zone_hour < 24 AND d.zone_minute < 60`;
const dayOfYear = '(153 * ((d.month + 9) % 12) + 2) / 5 + d.day - 1';
const yearOfEra = '(d.march_year - d.era * 400)';
const days = `(d.era * ${DAYS_PER_ERA} + ${yearOfEra} * 365 + ${yearOfEra} / 4 - ${yearOfEra} / 100 + ${dayOfYear} - ${EPOCH_DAYS})`;
const time = 'd.hour * 3600000 + d.minute * 60000 + d.second * 1000 + d.fraction / 1000000';
const zone = 'd.zone_sign * (d.zone_hour * 60 + d.zone_minute) * 60000';

/**
 * Returns SQL of the instant of an ISO text, a bigint; NULL if the text is invalid. It accepts what `parseIsoDate` accepts and never raises an
 * error.
 * @param text an SQL expression that may be written several times
 */
export function instantOf(text: string): string {
  // Extracting the parts by position is ten times faster than by groups of the pattern.
  const whole =
    "SELECT t.iso, CASE WHEN t.iso ~ '^[0-9]' THEN 4 ELSE 7 END AS years FROM" +
    ` (SELECT (${text}) COLLATE "C" AS iso OFFSET 0) AS t WHERE length(t.iso) <= ${MAX_TEXT_LENGTH} AND t.iso ~ '${isoForm}' AND t.iso !~ '^-000000' OFFSET 0`;
  const split =
    'SELECT left(w.iso, w.years) AS year, substr(w.iso, w.years + 2, 5) AS day, substr(w.iso, w.years + 7) AS time,' +
    " CASE WHEN w.iso ~ 'T.*[+-]' THEN right(w.iso, 6) ELSE '+00:00' END AS zone" +
    ` FROM (${whole}) AS w OFFSET 0`;
  const number = (part: string, from: number, digits = 2) => `substr(p.${part}, ${from}, ${digits})::bigint`;
  const present = (sign: string, at: number, value: string) =>
    `CASE WHEN substr(p.time, ${at}, 1) = '${sign}' THEN ${value} ELSE 0 END`;
  const fraction = `rpad(substring(p.time from '^.{10}([0-9]+)'), 9, '0')::bigint`;
  const date =
    `SELECT p.year::bigint AS year, ${number('day', 1)} AS month, ${number('day', 4)} AS day, ${present('T', 1, number('time', 2))} AS hour,` +
    ` ${present('T', 1, number('time', 5))} AS minute, ${present(':', 7, number('time', 8))} AS second, ${present('.', 10, fraction)} AS fraction,` +
    ` CASE WHEN p.zone LIKE '-%' THEN -1 ELSE 1 END AS zone_sign, ${number('zone', 2)} AS zone_hour, ${number('zone', 5)} AS zone_minute` +
    ` FROM (${split}) AS p OFFSET 0`;
  const marched = `SELECT n.*, n.year - (n.month < 3)::integer AS march_year, floor((n.year - (n.month < 3)::integer) / 400.0)::bigint AS era FROM (${date}) AS n OFFSET 0`;
  const instant = `SELECT ${days} * ${DAY_MS} + ${time} - ${zone} AS instant FROM (${marched}) AS d WHERE ${isValid} OFFSET 0`;
  return `(SELECT i.instant FROM (${instant}) AS i WHERE i.instant BETWEEN -${MAX_INSTANT} AND ${MAX_INSTANT})`;
}

const padded = (value: string, digits: number) => `lpad((${value})::text, ${digits}, '0')`;

/**
 * Returns SQL of the ISO text of an instant, formatted as by `Date.prototype.toISOString`; NULL for NULL.
 * @param instant an SQL expression of a bigint within the range of Date
 */
export function isoTextOf(instant: string): string {
  const split = `SELECT floor(x.instant / ${DAY_MS}.0)::bigint + ${EPOCH_DAYS} AS day, x.instant - floor(x.instant / ${DAY_MS}.0)::bigint * ${DAY_MS} AS rest FROM (SELECT (${instant})::bigint AS instant) AS x OFFSET 0`;
  const eras = `SELECT s.rest, floor(s.day / ${DAYS_PER_ERA}.0)::bigint AS era, s.day - floor(s.day / ${DAYS_PER_ERA}.0)::bigint * ${DAYS_PER_ERA} AS doe FROM (${split}) AS s OFFSET 0`;
  const years = `SELECT r.*, (r.doe - r.doe / 1460 + r.doe / 36524 - r.doe / 146096) / 365 AS yoe FROM (${eras}) AS r OFFSET 0`;
  const ofYear = `SELECT y.*, y.doe - (365 * y.yoe + y.yoe / 4 - y.yoe / 100) AS doy FROM (${years}) AS y OFFSET 0`;
  const months = `SELECT o.*, (5 * o.doy + 2) / 153 AS mp FROM (${ofYear}) AS o OFFSET 0`;
  const date = `SELECT q.rest, q.yoe + q.era * 400 + (q.mp >= 10)::integer AS year, (q.mp + 2) % 12 + 1 AS month, q.doy - (153 * q.mp + 2) / 5 + 1 AS day FROM (${months}) AS q OFFSET 0`;
  const year = `CASE WHEN d.year BETWEEN 0 AND 9999 THEN ${padded('d.year', 4)} ELSE CASE WHEN d.year < 0 THEN '-' ELSE '+' END || ${padded('abs(d.year)', 6)} END`;
  const clock = [
    padded('d.rest / 3600000', 2),
    padded('d.rest / 60000 % 60', 2),
    `${padded('d.rest / 1000 % 60', 2)} || '.' || ${padded('d.rest % 1000', 3)}`,
  ].join(" || ':' || ");
  return `(SELECT ${year} || '-' || ${padded('d.month', 2)} || '-' || ${padded('d.day', 2)} || 'T' || ${clock} || 'Z' FROM (${date}) AS d)`;
}
