import type { ValueKind } from '../../../query/aggregate/model.ts';
import type { AggregateDialect } from '../../sql/aggregate/dialect.ts';
import { type Fragment, joined, sql } from '../../sql/aggregate/fragment.ts';
import type { Dialect } from '../../sql/dialect.ts';
import { datePart, instantOfText, isoText } from './aggregate-dates.ts';
import { canonical, edited, isArray, isNumber, listOf, place, sortKey, textOf, without } from './aggregate-json.ts';
import { arithmetic, jsonOfNumber, remainder, round, toInstant, total } from './aggregate-numbers.ts';

const types: Readonly<Record<ValueKind['kind'], string>> = {
  text: 'text COLLATE "C"',
  pointer: 'text COLLATE "C"',
  number: 'float8',
  boolean: 'boolean',
  date: 'bigint',
  json: 'text COLLATE "C"',
};

/** Aggregation in PostgreSQL. Texts compare bytewise, so each has an explicit COLLATE "C"; values of unknown kind are JSON text. */
const aggregate: AggregateDialect = {
  typed: (kind, value) => sql`((${value})::${types[kind]})`,
  fence: ' OFFSET 0',
  bind: (operands, body) =>
    sql`(SELECT ${body} FROM (SELECT ${joined(
      operands.map(([name, value]) => sql`${value} AS ${name}`),
      ', ',
    )} OFFSET 0) AS operands)`,

  place,
  edited,
  without,
  equalityKey: (json) => sql`((${json})::jsonb)`,
  equalityKeyOf: (text) => sql`((${text})::jsonb)`,
  groupKey: (json) => ({ by: sql`((${json})::jsonb)`, shown: canonical(sql`min(${json})`) }),
  sortKey(kind, value) {
    if (kind === 'json') return sortKey(value);
    return kind === 'text' || kind === 'pointer' ? sql`(${value}) COLLATE "C"` : value;
  },
  textOf,
  textIn: (column) => `CASE WHEN left(${column}, 1) = '"' THEN (${column}::json #>> '{}') COLLATE "C" END`,
  numberOf: (json) => sql`CASE WHEN ${isNumber(json)} THEN ${json}::float8 END`,
  member: (json, name) => sql`((${json}::json ->> '${name}') COLLATE "C")`,
  length: (json) => sql`CASE WHEN ${isArray(json)} THEN json_array_length(${json}::json)::float8 END`,
  someElement: (json, condition) =>
    sql`EXISTS (SELECT 1 FROM json_array_elements(CASE WHEN ${isArray(json)} THEN ${json}::json END) AS e(value), LATERAL (SELECT ${element} AS text OFFSET 0) AS f WHERE ${condition(['f.text'])})`,
  jsonOfText: (text) => sql`(to_json(${text})::text)`,
  jsonOfNumber,
  jsonOfInstant: (instant) => sql`('{"__type":"Date","iso":"' || ${isoText(instant)} || '"}')`,

  collected: (json, order) => sql`('[' || coalesce(string_agg(${json}, ',' ORDER BY ${order}), '') || ']')`,
  // Group by jsonb, in which equal values are equal; return the original text, because jsonb writes numbers in full.
  collectedSet: (json, mixed) =>
    mixed
      ? listOf(
          sql`(SELECT min(u.v) FROM unnest(array_agg(DISTINCT ${json})) AS u(v) GROUP BY u.v::jsonb) AS s(v)`,
          canonical(['s.v']),
        )
      : listOf(sql`unnest(array_agg(DISTINCT ${json})) AS s(v)`, ['s.v']),
  only: (condition, value) => sql`((array_agg(${value}) FILTER (WHERE ${condition}))[1])`,
  extreme(which, kind, value) {
    if (kind === 'boolean') return sql`${which === 'min' ? 'bool_and' : 'bool_or'}(${value})`;
    return sql`${which}(${value})`;
  },
  total,
  arithmetic,

  instantOf: instantOfText,
  datePart,
  toInstant,
  remainder,
  round,
  finite: (number) => sql`CASE WHEN abs(${number}) < 'Infinity' THEN ${number} END`,

  unwind(from, json, preserve) {
    const array = sql`CASE WHEN ${isArray(json)} THEN ${json}::json WHEN ${json} IS NOT NULL THEN json_build_array(${json}::json) END`;
    return {
      from: sql`${from} ${preserve ? 'LEFT JOIN' : 'JOIN'} LATERAL json_array_elements(${array}) WITH ORDINALITY AS e(value, at) ON true`,
      element,
      position: sql`CASE WHEN ${isArray(json)} THEN e.at - 1 END`,
    };
  },
  // The server's own statement timeout applies.
  unwindInterruptCheck: ['true'],
  noLimit: 'ALL',
};

const element: Fragment = ["nullif(e.value::text, 'null')"];

/** Returns the aggregation dialect of PostgreSQL, which is the same for all systems. */
export function postgresAggregate(_base: Dialect): AggregateDialect {
  return aggregate;
}
