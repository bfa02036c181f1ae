import type { Comparison, FieldRef, JsonOperand, Regex } from '../../../query/model/filter.ts';
import { comparisonSigns, type SqlOut } from '../../sql/dialect.ts';
import { writeAmong, writePlace } from './json.ts';
import { writeTextMatch } from './text-match.ts';

/**
 * The operands of one sort: an SQL expression over an element `e` of json_each that is NULL for elements of another sort, and what it
 * has to be. CASE decides the order of evaluation: json_extract of a text that is no JSON would end the statement.
 */
interface Sort {
  readonly key: string;
  readonly values: Set<string | number>;
}

const keys = {
  string: `CASE WHEN e.type = 'text' THEN e.value END`,
  number: `CASE WHEN e.type IN ('integer', 'real') THEN CAST(e.value AS REAL) END`,
  constant: 'e.type',
  date: `CASE WHEN e.type = 'object' THEN CASE WHEN json_extract(e.value, '$.__type') = 'Date' THEN rds_instant(json_extract(e.value, '$.iso')) END END`,
  // A class name holds no $, so no two Pointers give the same text.
  pointer: `CASE WHEN e.type = 'object' THEN CASE WHEN json_extract(e.value, '$.__type') = 'Pointer' THEN json_extract(e.value, '$.className') || '$' || json_extract(e.value, '$.objectId') END END`,
  json: `CASE WHEN e.type IN ('object', 'array') THEN rds_canonical(e.value) END`,
};

/** Whether the array at a place has an element for any, or for all, of the operands, or elements for these only. */
export function writeJsonHas(
  out: SqlOut,
  alias: string,
  ref: FieldRef,
  which: 'any' | 'all' | 'only',
  operands: readonly (JsonOperand | Regex)[],
): void {
  const sorts = sorted(operands);
  const patterns = operands.filter((operand) => operand.kind === 'pattern');
  out.add('(');
  if (which === 'all' || (which === 'any' && operands.length === 1)) writeMention(out, alias, ref, operands[0]);
  writeIsArray(out, alias, ref);
  if (which === 'any') {
    writeElements(out.add(' AND EXISTS (SELECT 1 FROM '), alias, ref);
    writeMatch(out.add(' WHERE '), sorts);
    out.add(')');
  } else if (which === 'only') {
    writeElements(out.add(' AND NOT EXISTS (SELECT 1 FROM '), alias, ref);
    writeMatch(out.add(' WHERE ('), sorts);
    out.add(') IS NOT TRUE)');
  } else {
    for (const sort of sorts) {
      writeElements(out.add(` AND (SELECT count(DISTINCT ${sort.key}) FROM `), alias, ref);
      writeMatch(out.add(' WHERE '), [sort]);
      out.add(') = ').bind(sort.values.size);
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
 * A text or an objectId that has to occur stands in the column just as JSON.stringify writes it, which wrote the column too. Looking for
 * that first is some ten times cheaper than taking the array apart.
 */
function writeMention(out: SqlOut, alias: string, ref: FieldRef, operand: JsonOperand | Regex | undefined): void {
  const text = operand?.kind === 'pointer' ? operand.objectId : operand?.kind === 'string' ? operand.value : undefined;
  if (text !== undefined) {
    out.add('instr(').column(alias, ref.field.column).add(', ').bind(JSON.stringify(text)).add(') > 0 AND ');
  }
}

/** Whether the array at a place has an element of the operand's type in this order to it. */
export function writeJsonHasOrdered(out: SqlOut, alias: string, ref: FieldRef, op: Comparison, operand: JsonOperand): void {
  writeIsArray(out.add('('), alias, ref);
  writeElements(out.add(' AND EXISTS (SELECT 1 FROM '), alias, ref);
  out.add(' WHERE ');
  const [sort] = sorted([operand]);
  if (sort)
    out
      .add(sort.key)
      .add(comparisonSigns[op])
      .bind([...sort.values][0] ?? null);
  else out.add('false');
  out.add('))');
}

/** Whether a place holds a Pointer to a class, or an array with one, its id among those that `ids` selects. */
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

/** Rows with the canonical JSON text of the value at a place and of its elements, where it is an array. */
export function writeWireTexts(out: SqlOut, alias: string, ref: FieldRef, whole: () => void): void {
  out.add('(SELECT ');
  whole();
  writeElements(out.add(` AS value UNION ALL SELECT ${elementText} FROM `), alias, ref);
  writePlace(out.add(' WHERE '), 'json_type', alias, ref);
  // The limit keeps SQLite from writing what follows once for each half, and twice as often for each query inside.
  out.add(" = 'array' LIMIT -1)");
}

/** An Array column is an array wherever it is not empty; a place may hold anything. */
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

function writeMatch(out: SqlOut, sorts: readonly Sort[]): void {
  if (sorts.length === 0) out.add('false');
  sorts.forEach(({ key, values }, index) => {
    const [first] = values;
    out.add(index > 0 ? ' OR ' : '').add(key);
    if (values.size === 1 && first !== undefined) out.add(' = ').bind(first);
    else writeAmong(out, [...values], key === keys.number);
  });
}

function sorted(operands: readonly (JsonOperand | Regex)[]): Sort[] {
  const sorts = new Map<string, Sort>();
  const put = (key: string, value: string | number) => {
    const known = sorts.get(key);
    if (known) known.values.add(value);
    else sorts.set(key, { key, values: new Set([value]) });
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
  return [...sorts.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
}
