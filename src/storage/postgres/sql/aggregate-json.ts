import { type PlaceTree, placeTreeOf } from '../../../values/rows/place-tree.ts';
import { bound, type Fragment, joined, sql } from '../../sql/aggregate/fragment.ts';
import { arrayLiteral } from './arrays.ts';

/*
 * Between stages, values of unknown kind are text: JSON text without spaces, as JSON.stringify writes it. Their first character tells their type,
 * and they are cast to json only to access something inside them.
 */

/** A number in a path is a position or a key, depending on the value; with a sign or a space before it, only a key. */
const position = /^\d+$/;
const signed = /^\s*[+-]?\d+$/;

const label = (name: string) => sql`${bound(name)}::text`;

export const isText = (json: Fragment): Fragment => sql`left(${json}, 1) = '"'`;
export const isArray = (json: Fragment): Fragment => sql`left(${json}, 1) = '['`;
/** The first characters of numbers, `-` and digits, are the only ones in JSON between `-` and `9`. */
export const isNumber = (json: Fragment): Fragment => sql`${json} COLLATE "C" >= '-' AND ${json} COLLATE "C" < ':'`;

/** Returns the string of a JSON text, a simple operand; NULL if it is not a string. */
export const textOf = (json: Fragment): Fragment => sql`CASE WHEN ${isText(json)} THEN (${json}::json #>> '{}') COLLATE "C" END`;

/** Implements `AggregateDialect.place`. */
export function place(json: Fragment, path: readonly string[]): Fragment {
  let found = sql`(${json})::json`;
  let labels: string[] = [];
  const follow = () => {
    if (labels.length > 0) found = sql`(${found} #> ${bound(arrayLiteral(labels))}::text[])`;
    labels = [];
  };
  for (const name of path) {
    if (signed.test(name) && !position.test(name)) {
      follow();
      found = sql`(${found} -> ${label(name)})`;
    } else labels.push(name);
  }
  follow();
  return sql`nullif((${found})::text, 'null')`;
}

/** Implements `AggregateDialect.edited`: follows only keys of objects. */
export function edited(json: Fragment, path: readonly string[], value: Fragment): Fragment {
  return sql`(SELECT CASE WHEN x.json IS NOT NULL THEN ${withValue('x.json', path, 1)} END FROM (SELECT (${json})::json AS json, coalesce(${value}, 'null') AS value OFFSET 0) AS x)`;
}

/** Implements `AggregateDialect.without`: removes the members of one object together. */
export function without(json: Fragment, paths: readonly (readonly string[])[]): Fragment {
  return sql`(SELECT CASE WHEN x.json IS NOT NULL THEN ${withoutPlaces('x.json', placeTreeOf(paths), 1)} END FROM (SELECT (${json})::json AS json OFFSET 0) AS x)`;
}

/** Returns SQL of the JSON text of `json` with `x.value` inserted. @param depth numbers the alias of this level */
function withValue(json: string, path: readonly string[], depth: number): Fragment {
  const [name, ...rest] = path;
  if (name === undefined) return ['x.value'];
  const e = `e${depth}`;
  const changed = sql`CASE WHEN ${e}.key = ${label(name)} THEN ${withValue(`${e}.value`, rest, depth + 1)} ELSE ${e}.value::text END`;
  const added = sql`CASE WHEN ${json} -> ${label(name)} IS NULL THEN ${membersOf(path)} END`;
  return ifObject(json, sql`concat_ws(',', ${members(json, e, changed)}, ${added})`);
}

/** Returns SQL of `"a":{"b":<x.value>}` for a path that does not exist yet. */
function membersOf(path: readonly string[]): Fragment {
  const opening = path.map((name) => `${JSON.stringify(name)}:`).join('{');
  return sql`${bound(opening)}::text || x.value || '${'}'.repeat(path.length - 1)}'`;
}

/** Returns SQL of the JSON text of `json` without the values at some paths. */
function withoutPlaces(json: string, places: PlaceTree, depth: number): Fragment {
  const e = `e${depth}`;
  const dropped: string[] = [];
  const branches: Fragment[] = [];
  for (const [name, subtree] of places)
    if (subtree === null) dropped.push(name);
    else branches.push(sql` WHEN ${label(name)} THEN ${withoutPlaces(`${e}.value`, subtree, depth + 1)}`);
  const text = `${e}.value::text`;
  const value = branches.length > 0 ? sql`CASE ${e}.key${joined(branches, '')} ELSE ${text} END` : [text];
  const where = dropped.length > 0 ? sql` WHERE ${e}.key <> ALL (${bound(arrayLiteral(dropped))}::text[])` : [];
  return ifObject(json, sql`coalesce(${members(json, e, value, where)}, '')`);
}

const ifObject = (json: string, inside: Fragment) =>
  sql`CASE WHEN json_typeof(${json}) = 'object' THEN '{' || ${inside} || '}' ELSE ${json}::text END`;

/** Returns SQL of the members of an object in their order, comma-separated. */
const members = (json: string, e: string, value: Fragment, where: Fragment = []) =>
  sql`(SELECT string_agg(to_json(${e}.key)::text || ':' || ${value}, ',' ORDER BY ${e}.at) FROM json_each(${json}) WITH ORDINALITY AS ${e}(key, value, at)${where})`;

/** Returns a sort key for JSON texts: numbers and booleans by value, then strings, objects and arrays by their text. Simple operand. */
export function sortKey(json: Fragment): Fragment {
  const number = (value: Fragment) => sql`ROW(0, (${value})::float8, ''::text COLLATE "C")`;
  const text = (value: Fragment) => sql`ROW(1, 0::float8, (${value}) COLLATE "C")`;
  return sql`CASE WHEN ${isNumber(json)} THEN ${number(json)} WHEN ${json} IN ('true', 'false') THEN ${number(sql`(${json} = 'true')::integer`)} WHEN ${isText(json)} THEN ${text(sql`${json}::json #>> '{}'`)} WHEN ${json} IS NOT NULL THEN ${text(json)} END`;
}

/**
 * Returns SQL of JSON text with the keys of every object sorted (kernel/json.ts). Evaluated for each group, not for each row. Nested objects are
 * taken apart level by level, each token with its path as sort key. Simple operand.
 */
export function canonical(json: Fragment): Fragment {
  const flat = sql`(SELECT '{' || coalesce(string_agg(to_json(e.key)::text || ':' || e.value::text, ',' ORDER BY e.key COLLATE "C"), '') || '}' FROM json_each(${json}::json) AS e)`;
  const inside = sql`substr(${json}, 2)`;
  return sql`CASE WHEN left(${json}, 1) NOT IN ('{', '[') THEN ${json} WHEN left(${json}, 1) = '{' AND position('{' IN ${inside}) = 0 AND position('[' IN ${inside}) = 0 THEN ${flat} ELSE ${nested(json)} END`;
}

function nested(json: Fragment): Fragment {
  const key =
    "CASE WHEN row_number() OVER (ORDER BY e.key COLLATE \"C\") > 1 THEN ',' ELSE '' END || to_json(e.key)::text || ':'";
  const memberRows = `SELECT e.key, ${key}, e.value FROM json_each(CASE WHEN json_typeof(n.value) = 'object' THEN n.value END) AS e`;
  const elementRows =
    "SELECT lpad(e.at::text, 9, '0'), CASE WHEN e.at > 1 THEN ',' ELSE '' END, e.value" +
    " FROM json_array_elements(CASE WHEN json_typeof(n.value) = 'array' THEN n.value END) WITH ORDINALITY AS e(value, at)";
  const nodes = sql`SELECT ARRAY[]::text[], ''::text, ${json}::json UNION ALL SELECT n.path || ('a' || m.place), m.lead, m.value FROM node AS n, LATERAL (${memberRows} UNION ALL ${elementRows}) AS m(place, lead, value)`;
  const opened = "lead || CASE json_typeof(value) WHEN 'object' THEN '{' WHEN 'array' THEN '[' ELSE value::text END";
  const closed =
    "SELECT path || 'z'::text, CASE json_typeof(value) WHEN 'object' THEN '}' ELSE ']' END FROM node WHERE json_typeof(value) IN ('object', 'array')";
  return sql`(WITH RECURSIVE node(path, lead, value) AS (${nodes}) SELECT string_agg(t.token, '' ORDER BY t.path COLLATE "C") FROM (SELECT path, ${opened} FROM node UNION ALL ${closed}) AS t(path, token))`;
}

/** Returns SQL of a JSON list of the JSON texts of a row source `s(v)`, sorted by their text. */
export function listOf(rows: Fragment, value: Fragment): Fragment {
  return sql`(SELECT '[' || coalesce(string_agg(c.v, ',' ORDER BY c.v COLLATE "C"), '') || ']' FROM ${joined([rows, sql`LATERAL (SELECT ${value}) AS c(v)`], ', ')} WHERE c.v IS NOT NULL)`;
}
