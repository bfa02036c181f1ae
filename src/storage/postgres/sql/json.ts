import type { Comparison, FieldRef, JsonOperand, Regex } from '../../../query/model/filter.ts';
import { storageOf } from '../../../values/index.ts';
import { comparisonSigns, type SqlOut } from '../../sql/dialect.ts';
import { arrayLiteral } from './arrays.ts';
import { contains, isContainable, jsonOfOperand } from './contains.ts';
import { instantOf, isoTextOf } from './instant.ts';
import { quotedName } from './names.ts';
import { textMatch } from './text-match.ts';

/*
 * JSON columns have the type json, which keeps the text that was written, by JSON.stringify; so scalars are equal if their texts are.
 * Expressions here are text that may be written several times, since placeholders are numbered; none of them may raise an error, whatever the
 * value.
 */

/** A number in a path is a position or a key, depending on the value. */
const position = /^\d+$/;
/** PostgreSQL takes these for positions too (even counted from the end); here they are keys. */
const signed = /^\s*[+-]?\d+$/;

/** Returns the SQL of a column of a table alias. */
export const columnOf = (alias: string, column: string): string => `${alias}.${quotedName(column)}`;

/** Returns the SQL of the json at a path; NULL if there is none. */
export function placeOf(out: SqlOut, alias: string, { field, path }: FieldRef): string {
  let json = columnOf(alias, field.column);
  let labels: string[] = [];
  const follow = () => {
    if (labels.length > 0) json = `(${json} #> ${out.parameter(arrayLiteral(labels))}::text[])`;
    labels = [];
  };
  for (const label of path) {
    if (signed.test(label) && !position.test(label)) {
      follow();
      json = `(${json} -> ${out.parameter(label)}::text)`;
    } else labels.push(label);
  }
  follow();
  return json;
}

/** Returns the SQL of the string that a json is, for comparisons; NULL for other types. */
const textOf = (json: string): string => `CASE WHEN json_typeof(${json}) = 'string' THEN (${json} #>> '{}') COLLATE "C" END`;
const numberOf = (json: string): string => `CASE WHEN json_typeof(${json}) = 'number' THEN (${json})::text::float8 END`;
const booleanOf = (json: string) => `CASE WHEN json_typeof(${json}) = 'boolean' THEN (${json})::text::boolean END`;

/** Returns the SQL of the instant of a Date. */
export const dateOf = (json: string): string =>
  `CASE WHEN ${json} ->> '__type' = 'Date' THEN ${instantOf(`${json} ->> 'iso'`)} END`;

/** Returns the SQL of an object or an array as jsonb, whose equality ignores formatting and the order of keys. */
export const contentOf = (json: string): string =>
  `CASE WHEN json_typeof(${json}) IN ('object', 'array') THEN (${json})::jsonb END`;

/** Writes whether there is a value other than null at a path. */
export function writeJsonExists(out: SqlOut, alias: string, ref: FieldRef): void {
  out.add(`json_typeof(${placeOf(out, alias, ref)}) <> 'null'`);
}

/** Writes a comparison of the value at a path with an operand of the same type. */
export function writeJsonCompare(out: SqlOut, alias: string, ref: FieldRef, op: Comparison, operand: JsonOperand): void {
  if (op === 'eq') out.add(equality(out, alias, ref, operand));
  else if (hasOrder(operand)) out.add(ordered(out, placeOf(out, alias, ref), op, operand));
  else out.add('false');
}

/**
 * Returns the SQL of an equality. Evaluates the path only in the branches that write it: a bound parameter that the statement does not use has no
 * type.
 */
function equality(out: SqlOut, alias: string, ref: FieldRef, operand: JsonOperand): string {
  const place = () => placeOf(out, alias, ref);
  const contained = isContainable(ref, operand);
  switch (operand.kind) {
    case 'date':
      return ordered(out, place(), 'eq', operand);
    case 'json': {
      const first = contained ? `${contains(out, alias, ref, operand.canonical)} AND ` : '';
      return `(${first}${contentOf(place())} = ${out.parameter(operand.canonical)}::jsonb)`;
    }
    case 'pointer': {
      if (contained) return contains(out, alias, ref, jsonOfOperand(operand));
      const json = place();
      const name = `${json} ->> 'className' = ${out.parameter(operand.className)}::text`;
      return `(${json} ->> 'objectId' = ${out.parameter(operand.objectId)}::text AND ${name} AND ${json} ->> '__type' = 'Pointer')`;
    }
    default:
      // Not at the top level: there `@>` also finds a scalar inside an array, and columns hold only arrays and objects.
      if (contained && ref.path.length > 0) return contains(out, alias, ref, jsonOfOperand(operand));
      return `(${place()})::text = ${out.parameter(jsonOfOperand(operand))}::text`;
  }
}

/** Operands whose types are ordered. */
type Ordered = Extract<JsonOperand, { kind: 'string' | 'number' | 'boolean' | 'date' }>;
export const hasOrder = (operand: JsonOperand): operand is Ordered =>
  ['string', 'number', 'boolean', 'date'].includes(operand.kind);

/** Returns the SQL of an ordered comparison of a json with an operand of the same type. */
export function ordered(out: SqlOut, json: string, op: Comparison, operand: Ordered): string {
  const compare = (value: string, bound: string) => `(${value}${comparisonSigns[op]}${bound})`;
  switch (operand.kind) {
    case 'string':
      return compare(textOf(json), `${out.parameter(operand.value)}::text`);
    case 'number':
      return compare(numberOf(json), `${out.parameter(operand.value)}::float8`);
    case 'boolean':
      return compare(booleanOf(json), `${out.parameter(operand.value)}::boolean`);
    case 'date':
      return compare(dateOf(json), `${out.parameter(Date.parse(operand.iso))}::bigint`);
  }
}

/** Writes whether the text at a path, or a text in the array there, matches. */
export function writeJsonMatches(out: SqlOut, alias: string, ref: FieldRef, regex: Regex): void {
  const json = placeOf(out, alias, ref);
  const texts = `CASE json_typeof(${json}) WHEN 'array' THEN ${json} WHEN 'string' THEN json_build_array(${json}) END`;
  out.add(`EXISTS (SELECT 1 FROM json_array_elements(${texts}) AS e(value) WHERE ${matches(out, 'e.value', regex)})`);
}

/** Returns the SQL of whether a json is a text that matches. */
export function matches(out: SqlOut, json: string, regex: Regex): string {
  return `CASE WHEN json_typeof(${json}) = 'string' THEN ${textMatch(out, `(${json} #>> '{}') COLLATE "C"`, regex)} END`;
}

/** Writes a sort key: numbers and booleans by value, then strings, objects and arrays by their text, in the same order as SQLite. */
export function writeJsonOrder(out: SqlOut, alias: string, ref: FieldRef): void {
  const json = placeOf(out, alias, ref);
  const number = (value: string) => `ROW(0, (${value})::float8, ''::text COLLATE "C")`;
  const text = (value: string) => `ROW(1, 0::float8, (${value}) COLLATE "C")`;
  out.add(
    `CASE json_typeof(${json}) WHEN 'number' THEN ${number(`(${json})::text`)} WHEN 'boolean' THEN ${number(`(${json})::text::boolean::integer`)}` +
      ` WHEN 'string' THEN ${text(`${json} #>> '{}'`)} WHEN 'object' THEN ${text(`(${json})::text`)} WHEN 'array' THEN ${text(`(${json})::text`)} END`,
  );
}

/** Writes the wire value of a field or a path as jsonb, in which equal values compare equal; NULL if absent. */
export function writeWireText(out: SqlOut, alias: string, ref: FieldRef): void {
  const column = columnOf(alias, ref.field.column);
  switch (storageOf(ref.field)) {
    case 'json':
      out.add(`(${placeOf(out, alias, ref)})::jsonb`);
      break;
    case 'date':
      out.add(`CASE WHEN ${column} IS NOT NULL THEN jsonb_build_object('__type', 'Date', 'iso', ${isoTextOf(column)}) END`);
      break;
    case 'pointer':
      out.add(`CASE WHEN ${column} IS NOT NULL THEN jsonb_build_object('__type', 'Pointer', 'className', `);
      out.bind(ref.field.targetClass ?? '').add(`::text, 'objectId', ${column}) END`);
      break;
    default:
      out.add(`to_jsonb(${column})`);
  }
}
