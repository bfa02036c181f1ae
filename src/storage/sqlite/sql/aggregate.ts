import type { DatePart } from '../../../query/aggregate/model.ts';
import type { AggregateDialect } from '../../sql/aggregate/dialect.ts';
import { bound, type Fragment, joined, sql } from '../../sql/aggregate/fragment.ts';
import { hasPosition, jsonPath } from './json.ts';

const partFormats: Readonly<Record<DatePart, string>> = {
  year: '%Y',
  month: '%m',
  dayOfMonth: '%d',
  hour: '%H',
  minute: '%M',
  second: '%S',
  week: '%U',
  dayOfWeek: '%w',
};

/** The years 0 to 9999, which SQLite formats as ISO 8601 requires. */
const FIRST_INSTANT = Date.parse('0000-01-01T00:00:00.000Z');
const LAST_INSTANT = Date.parse('9999-12-31T23:59:59.999Z');

/** Arguments of a function are limited (https://www.sqlite.org/limits.html). */
const MAX_PATHS = 100;

const pathOf = (labels: readonly string[]) => bound(jsonPath(labels));

const elementText: Fragment = [
  "CASE e.type WHEN 'true' THEN 'true' WHEN 'false' THEN 'false' WHEN 'null' THEN NULL WHEN 'object' THEN e.value WHEN 'array' THEN e.value" +
    " WHEN 'real' THEN rds_wire('number', e.value, '') ELSE nullif(json_quote(e.value), 'null') END",
];

const canonical = (json: Fragment) => sql`rds_canonical(${json})`;

/** Aggregation in SQLite: JSON is text, Booleans are 0 and 1, and `rds_...` are our own functions (functions.ts). */
export const sqliteAggregate: AggregateDialect = {
  // SQLite does not flatten a SELECT without FROM into the enclosing one, so its columns are computed once.
  typed: (_kind, value) => value,
  fence: '',
  bind: (operands, body) =>
    sql`(SELECT ${body} FROM (SELECT ${joined(
      operands.map(([name, value]) => sql`${value} AS ${name}`),
      ', ',
    )}))`,

  place: (json, path) =>
    hasPosition(path)
      ? sql`nullif(rds_place(${json}, ${bound(JSON.stringify(path))}), 'null')`
      : sql`nullif(${json} -> ${pathOf(path)}, 'null')`,
  edited: (json, path, value) => sql`json_set(${json}, ${pathOf(path)}, json(${value}))`,
  without(json, paths) {
    let left = json;
    for (let at = 0; at < paths.length; at += MAX_PATHS)
      left = sql`json_remove(${left}, ${joined(paths.slice(at, at + MAX_PATHS).map(pathOf), ', ')})`;
    return left;
  },
  equalityKey: canonical,
  equalityKeyOf: (text) => text,
  groupKey(json) {
    const key = canonical(json);
    return { by: key, shown: key };
  },
  sortKey: (kind, value) => (kind === 'json' ? sql`(${value} ->> '$')` : value),
  textOf: (json) => sql`CASE WHEN json_type(${json}) = 'text' THEN ${json} ->> '$' END`,
  textIn: (column) => `CASE WHEN json_type(${column}) = 'text' THEN ${column} ->> '$' END`,
  numberOf: (json) => sql`CASE WHEN json_type(${json}) IN ('integer', 'real') THEN CAST(${json} AS REAL) END`,
  member: (json, name) => sql`(${json} ->> ${pathOf([name])})`,
  length: (json) => sql`CASE WHEN json_type(${json}) = 'array' THEN json_array_length(${json}) END`,
  someElement: (json, condition) =>
    sql`EXISTS (SELECT 1 FROM json_each(CASE WHEN json_type(${json}) = 'array' THEN ${json} END) AS e WHERE ${condition(elementText)})`,
  jsonOfText: (text) => sql`nullif(json_quote(${text}), 'null')`,
  jsonOfNumber: (number) =>
    sql`CASE WHEN abs(${number}) < 1e15 AND ${number} = CAST(${number} AS INTEGER) THEN CAST(CAST(${number} AS INTEGER) AS TEXT) WHEN abs(${number}) <= 1.7976931348623157e308 THEN rds_wire('number', ${number}, '') END`,
  jsonOfInstant: (instant) =>
    sql`CASE WHEN ${instant} BETWEEN ${String(FIRST_INSTANT)} AND ${String(LAST_INSTANT)} THEN '{"__type":"Date","iso":"' || strftime('%Y-%m-%dT%H:%M:%fZ', ${instant} / 1000.0, 'unixepoch') || '"}' ELSE rds_wire('date', ${instant}, '') END`,

  collected: (json, order) => sql`('[' || coalesce(group_concat(${json}, ',' ORDER BY ${order}), '') || ']')`,
  collectedSet(json, mixed) {
    const text = mixed ? canonical(json) : json;
    return sql`('[' || coalesce(group_concat(DISTINCT ${text} ORDER BY ${text}), '') || ']')`;
  },
  only: (condition, value) => sql`max(CASE WHEN ${condition} THEN ${value} END)`,
  extreme: (which, _kind, value) => sql`${which}(${value})`,
  total: (which, number) => (which === 'sum' ? sql`sum(1.0 * ${number})` : sql`avg(${number})`),

  arithmetic: (operator, a, b) => (operator === '/' ? sql`(1.0 * ${a} / nullif(${b}, 0))` : sql`(${a} ${operator} ${b})`),

  instantOf: (iso) => sql`rds_instant(${iso})`,
  datePart: (part, instant) =>
    sql`(CAST(strftime('${partFormats[part]}', ${instant} / 1000.0, 'unixepoch') AS INTEGER)${part === 'dayOfWeek' ? ' + 1' : ''})`,
  toInstant: (number) => sql`CASE WHEN abs(${number}) <= 8.64e15 THEN CAST(round(${number}) AS INTEGER) END`,
  remainder: (dividend, divisor) => sql`mod(${dividend}, ${divisor})`,
  round: (number, places) =>
    places >= 0
      ? sql`round(${number}, ${String(places)})`
      : sql`(round(${number} / 1e${String(-places)}) * 1e${String(-places)})`,
  finite: (number) => sql`CASE WHEN abs(${number}) <= 1.7976931348623157e308 THEN ${number} END`,

  unwind(from, json, preserve) {
    const array = sql`CASE WHEN json_type(${json}) = 'array' THEN ${json} WHEN ${json} IS NOT NULL THEN '[' || ${json} || ']' END`;
    return {
      from: sql`${from} ${preserve ? 'LEFT JOIN' : 'JOIN'} json_each(${array}) AS e ON true`,
      element: elementText,
      position: sql`CASE WHEN json_type(${json}) = 'array' THEN e.key END`,
    };
  },
  unwindInterruptCheck: ['((e.key & 1023) <> 0 OR rds_tick())'],
  noLimit: '-1',
};
