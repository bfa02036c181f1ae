import type { Comparison, FieldRef, JsonOperand, Regex } from '../../../query/model/filter.ts';
import { comparisonSigns, type SqlOut } from '../../sql/dialect.ts';
import { writeAmong, writePlace } from './json.ts';
import { writeTextMatch } from './text-match.ts';

/**
 * The operands of one type: an SQL expression over an element `e` of json_each that is NULL for elements of other types, and its accepted values.
 * CASE fixes the order of evaluation: json_extract of a text that is not JSON would abort the statement.
 */
interface OperandGroup {
  readonly key: string;
  readonly values: Set<string | number>;
}

const keys = {
  string: `CASE WHEN e.type = 'text' THEN e.value END`,
  number: `CASE WHEN e.type IN ('integer', 'real') THEN CAST(e.value AS REAL) END`,
  constant: 'e.type',
  date: `CASE WHEN e.type = 'object' THEN CASE WHEN json_extract(e.value, '$.__type') = 'Date' THEN rds_instant(json_extract(e.value, '$.iso')) END END`,
  // A class name contains no $, so different Pointers give different texts.
  pointer: `CASE WHEN e.type = 'object' THEN CASE WHEN json_extract(e.value, '$.__type') = 'Pointer' THEN json_extract(e.value, '$.className') || '$' || json_extract(e.value, '$.objectId') END END`,
  json: `CASE WHEN e.type IN ('object', 'array') THEN rds_canonical(e.value) END`,
};

/** Writes whether the array at a path has an element for any, or for all, of the operands, or elements for these only. */
export function writeJsonHas(
  out: SqlOut,
  alias: string,
  ref: FieldRef,
  which: 'any' | 'all' | 'only',
  operands: readonly (JsonOperand | Regex)[],
): void {
  const groups = grouped(operands);
  const patterns = operands.filter((operand) => operand.kind === 'pattern');
  out.add('(');
  if (which === 'all' || (which === 'any' && operands.length === 1)) writeMention(out, alias, ref, operands[0]);
  writeIsArray(out, alias, ref);
  if (which === 'any') {
    writeElements(out.add(' AND EXISTS (SELECT 1 FROM '), alias, ref);
    writeMatch(out.add(' WHERE '), groups);
    out.add(')');
  } else if (which === 'only') {
    writeElements(out.add(' AND NOT EXISTS (SELECT 1 FROM '), alias, ref);
    writeMatch(out.add(' WHERE ('), groups);
    out.add(') IS NOT TRUE)');
  } else {
    for (const group of groups) {
      writeElements(out.add(` AND (SELECT count(DISTINCT ${group.key}) FROM `), alias, ref);
      writeMatch(out.add(' WHERE '), [group]);
      out.add(') = ').bind(group.values.size);
    }
    for (const pattern of patterns) {
      writeElements(out.add(' AND EXISTS (SELECT 1 FROM '), alias, ref);
      writeTextMatch(out.add(` WHERE e.type = 'text' AND `), 'e.value', pattern);
      out.add(')');
    }
  }
  out.add(')');
}

/**
 * A text or objectId that must occur is in the column exactly as JSON.stringify writes it, which wrote the column too. Searching for it first is
 * about ten times cheaper than parsing the array.
 */
function writeMention(out: SqlOut, alias: string, ref: FieldRef, operand: JsonOperand | Regex | undefined): void {
  const text = operand?.kind === 'pointer' ? operand.objectId : operand?.kind === 'string' ? operand.value : undefined;
  if (text !== undefined) {
    out.add('instr(').column(alias, ref.field.column).add(', ').bind(JSON.stringify(text)).add(') > 0 AND ');
  }
}

/** Writes whether the array at a path has an element of the operand's type for which the comparison holds. */
export function writeJsonHasOrdered(out: SqlOut, alias: string, ref: FieldRef, op: Comparison, operand: JsonOperand): void {
  writeIsArray(out.add('('), alias, ref);
  writeElements(out.add(' AND EXISTS (SELECT 1 FROM '), alias, ref);
  out.add(' WHERE ');
  const [group] = grouped([operand]);
  if (group)
    out
      .add(group.key)
      .add(comparisonSigns[op])
      .bind([...group.values][0] ?? null);
  else out.add('false');
  out.add('))');
}

/** Writes whether a path holds a Pointer to a class, or an array with one, whose id is among those that `ids` selects. */
export function writeJsonPointsInto(out: SqlOut, alias: string, ref: FieldRef, className: string, ids: () => void): void {
  out.add('EXISTS (SELECT 1 FROM ');
  if (ref.path.length === 0) writeElements(out, alias, ref);
  else {
    writePlace(out.add('json_each(CASE '), 'json_type', alias, ref);
    writePlace(out.add(" WHEN 'array' THEN "), 'json_extract', alias, ref);
    writePlace(out.add(" WHEN 'object' THEN json_array(json("), 'json_extract', alias, ref);
    out.add(')) END) AS e');
  }
  out.add(" WHERE CASE WHEN e.type = 'object' THEN CASE WHEN json_extract(e.value, '$.__type') = 'Pointer'");
  out
    .add(" AND json_extract(e.value, '$.className') = ")
    .bind(className)
    .add(" THEN json_extract(e.value, '$.objectId') END END IN (");
  ids();
  out.add('))');
}

const elementText = `CASE WHEN e.type = 'text' THEN rds_wire('text', e.value, '') WHEN e.type IN ('integer', 'real') THEN rds_wire('number', CAST(e.value AS REAL), '') WHEN e.type IN ('object', 'array') THEN rds_canonical(e.value) WHEN e.type <> 'null' THEN e.type END`;

/** Writes rows with the canonical JSON text of the value at a path and, if it is an array, of its elements. */
export function writeWireTexts(out: SqlOut, alias: string, ref: FieldRef, whole: () => void): void {
  out.add('(SELECT ');
  whole();
  writeElements(out.add(` AS value UNION ALL SELECT ${elementText} FROM `), alias, ref);
  writePlace(out.add(' WHERE '), 'json_type', alias, ref);
  // The LIMIT keeps SQLite from pushing the outer condition into both halves, which would duplicate each nested query in it, at every level.
  out.add(" = 'array' LIMIT -1)");
}

/** An Array column that is not NULL is an array; a path may hold anything. */
function writeIsArray(out: SqlOut, alias: string, ref: FieldRef): void {
  if (ref.field.type === 'Array' && ref.path.length === 0) {
    out.column(alias, ref.field.column).add(' IS NOT NULL');
    return;
  }
  writePlace(out, 'json_type', alias, ref);
  out.add(" = 'array'");
}

function writeElements(out: SqlOut, alias: string, ref: FieldRef): void {
  writePlace(out, 'json_each', alias, ref);
  out.add(' AS e');
}

function writeMatch(out: SqlOut, groups: readonly OperandGroup[]): void {
  if (groups.length === 0) out.add('false');
  groups.forEach(({ key, values }, index) => {
    const [first] = values;
    out.add(index > 0 ? ' OR ' : '').add(key);
    if (values.size === 1 && first !== undefined) out.add(' = ').bind(first);
    else writeAmong(out, [...values], key === keys.number);
  });
}

function grouped(operands: readonly (JsonOperand | Regex)[]): OperandGroup[] {
  const groups = new Map<string, OperandGroup>();
  const put = (key: string, value: string | number) => {
    const known = groups.get(key);
    if (known) known.values.add(value);
    else groups.set(key, { key, values: new Set([value]) });
  };
  for (const operand of operands) {
    if (operand.kind === 'string') put(keys.string, operand.value);
    else if (operand.kind === 'number') put(keys.number, operand.value);
    else if (operand.kind === 'boolean') put(keys.constant, String(operand.value));
    else if (operand.kind === 'null') put(keys.constant, 'null');
    else if (operand.kind === 'date') put(keys.date, Date.parse(operand.iso));
    else if (operand.kind === 'pointer') put(keys.pointer, `${operand.className}$${operand.objectId}`);
    else if (operand.kind === 'json') put(keys.json, operand.canonical);
  }
  return [...groups.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
}
