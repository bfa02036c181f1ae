import type { Comparison, FieldRef, JsonOperand, Regex } from '../../../query/model/filter.ts';
import type { StoredValue } from '../../../values/types/type.ts';
import { comparisonSigns, type SqlOut } from '../../sql/dialect.ts';
import { writeTextMatch } from './text-match.ts';

/** Returns a path in SQLite's notation, `$."a"."b"`. Labels are JSON strings, so no key has a special meaning. */
export function jsonPath(path: readonly string[]): string {
  let text = '$';
  for (const label of path) text += `.${JSON.stringify(label)}`;
  return text;
}

/** Returns whether a path contains a number, which is a position or a key depending on the value there. `jsonPath` cannot express that. */
export function hasPosition(path: readonly string[]): boolean {
  return path.some((label) => /^\d+$/.test(label));
}

/** Writes ` IN <list>`; the list is bound as one parameter. The cast is needed because JSON text may write a double above 2^53 as another integer. */
export function writeAmong(out: SqlOut, values: readonly StoredValue[], areNumbers: boolean): void {
  out.add(areNumbers ? ' IN (SELECT CAST(value AS REAL) FROM json_each(' : ' IN (SELECT value FROM json_each(');
  out.bind(JSON.stringify(values)).add('))');
}

/** Writes `call(<json>, <path>)` for a path and what lies below it. Our own function resolves paths with a position. */
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

/** Writes whether a path has a value other than null. */
export function writeJsonExists(out: SqlOut, alias: string, ref: FieldRef): void {
  writePlace(out, 'json_type', alias, ref);
  out.add(" <> 'null'");
}

/** The condition on the JSON type separates numbers, Booleans and texts, which SQLite would order among each other. */
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
      // JSON text may write a double above 2^53 as another integer, which SQLite would compare exactly.
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

/** Writes whether the text at a path, or a text in the array there, matches. */
export function writeJsonMatches(out: SqlOut, alias: string, ref: FieldRef, regex: Regex): void {
  // json_each yields the elements of an array, the text itself, or the members of an object, which must not match.
  writePlace(out.add('('), 'json_type', alias, ref);
  writePlace(out.add(" IN ('array', 'text') AND EXISTS (SELECT 1 FROM "), 'json_each', alias, ref);
  writeTextMatch(out.add(" AS e WHERE e.type = 'text' AND "), 'e.value', regex);
  out.add('))');
}

/** Texts, numbers and Dates in their natural order; a whole column by its text. */
export function writeJsonOrder(out: SqlOut, alias: string, ref: FieldRef): void {
  writePlace(out, 'json_extract', alias, ref);
}
