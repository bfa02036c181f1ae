import type { Comparison, FieldRef, JsonOperand, Regex } from '../../../query/model/filter.ts';
import type { StoredValue } from '../../../values/types/type.ts';
import { comparisonSigns, type SqlOut } from '../../sql/dialect.ts';
import { writeTextMatch } from './text-match.ts';

/** A path in SQLite's notation, `$."a"."b"`; labels are JSON strings, so no key can mean anything else. */
export function jsonPath(path: readonly string[]): string {
  let text = '$';
  for (const label of path) text += `.${JSON.stringify(label)}`;
  return text;
}

/** Whether a path has a number in it, which is a position or a key, as the value there decides. `jsonPath` cannot say that. */
export function hasPosition(path: readonly string[]): boolean {
  return path.some((label) => /^\d+$/.test(label));
}

/** ` IN <list>`; the list is bound as one parameter. JSON text may write a double above 2^53 as another whole number. */
export function writeAmong(out: SqlOut, values: readonly StoredValue[], areNumbers: boolean): void {
  out.add(areNumbers ? ' IN (SELECT CAST(value AS REAL) FROM json_each(' : ' IN (SELECT value FROM json_each(');
  out.bind(JSON.stringify(values)).add('))');
}

/**
 * `call(<json>, <path>)` of a place and what lies below it. Places with a position in them are found by a function of ours.
 */
export function writePlace(out: SqlOut, call: string, alias: string, ref: FieldRef, below: readonly string[] = []): void {
  out.add(`${call}(`);
  let path = ref.path;
  if (hasPosition(path)) {
    out.add('rds_place(').column(alias, ref.field.column).add(', ').bind(JSON.stringify(path)).add(')');
    path = [];
  } else out.column(alias, ref.field.column);
  if (path.length + below.length === 0) out.add(", '$')");
  else
    out
      .add(', ')
      .bind(jsonPath([...path, ...below]))
      .add(')');
}

/** Whether there is a value other than null at a place. */
export function writeJsonExists(out: SqlOut, alias: string, ref: FieldRef): void {
  writePlace(out, 'json_type', alias, ref);
  out.add(" <> 'null'");
}

/** The guard on the JSON type keeps numbers, booleans and texts apart, which SQLite would order among each other. */
export function writeJsonCompare(out: SqlOut, alias: string, ref: FieldRef, op: Comparison, operand: JsonOperand): void {
  const compare = (type: string, value: string | number, real = false) => {
    writePlace(out.add('('), 'json_type', alias, ref);
    writePlace(out.add(type).add(real ? ' AND CAST(' : ' AND '), 'json_extract', alias, ref);
    out
      .add(real ? ' AS REAL)' : '')
      .add(comparisonSigns[op])
      .bind(value)
      .add(')');
  };
  switch (operand.kind) {
    case 'string':
      compare(" = 'text'", operand.value);
      break;
    case 'number':
      // JSON text may write a double above 2^53 as another whole number, which SQLite would compare exactly.
      compare(" IN ('integer', 'real')", operand.value, true);
      break;
    case 'boolean':
      compare(" IN ('true', 'false')", operand.value ? 1 : 0);
      break;
    case 'date':
      writePlace(out.add('('), 'json_extract', alias, ref, ['__type']);
      writePlace(out.add(" = 'Date' AND rds_instant("), 'json_extract', alias, ref, ['iso']);
      out.add(`)${comparisonSigns[op]}`).bind(Date.parse(operand.iso)).add(')');
      break;
    default:
      if (op === 'eq') writeJsonEqual(out, alias, ref, operand);
      else out.add('false');
  }
}

type Unordered = Extract<JsonOperand, { kind: 'null' | 'pointer' | 'json' }>;

function writeJsonEqual(out: SqlOut, alias: string, ref: FieldRef, operand: Unordered): void {
  if (operand.kind === 'null') {
    writePlace(out, 'json_type', alias, ref);
    out.add(" = 'null'");
  } else if (operand.kind === 'pointer') {
    writePlace(out.add('('), 'json_extract', alias, ref, ['objectId']);
    writePlace(out.add(' = ').bind(operand.objectId).add(' AND '), 'json_extract', alias, ref, ['className']);
    writePlace(out.add(' = ').bind(operand.className).add(' AND '), 'json_extract', alias, ref, ['__type']);
    out.add(" = 'Pointer')");
  } else {
    writePlace(out.add('('), 'json_type', alias, ref);
    writePlace(out.add(" IN ('object', 'array') AND rds_canonical("), 'json_extract', alias, ref);
    out.add(') = ').bind(operand.canonical).add(')');
  }
}

/** Whether the text at a place, or a text in the array there, matches. */
export function writeJsonMatches(out: SqlOut, alias: string, ref: FieldRef, regex: Regex): void {
  // json_each gives the elements of an array, the text itself, and the members of an object, which are not asked for.
  writePlace(out.add('('), 'json_type', alias, ref);
  writePlace(out.add(" IN ('array', 'text') AND EXISTS (SELECT 1 FROM "), 'json_each', alias, ref);
  writeTextMatch(out.add(" AS e WHERE e.type = 'text' AND "), 'e.value', regex);
  out.add('))');
}

/** Texts, numbers and Dates in their own order; a whole column by its text. */
export function writeJsonOrder(out: SqlOut, alias: string, ref: FieldRef): void {
  writePlace(out, 'json_extract', alias, ref);
}
