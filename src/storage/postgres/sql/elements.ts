import type { Comparison, FieldRef, JsonOperand, Regex } from '../../../query/model/filter.ts';
import type { StoredValue } from '../../../values/types/type.ts';
import type { SqlOut } from '../../sql/dialect.ts';
import { arrayLiteral } from './arrays.ts';
import { canSeek, contains, containsAny, isContainable, jsonOfOperand } from './contains.ts';
import { columnOf, contentOf, dateOf, hasOrder, matches, ordered, placeOf } from './json.ts';

/**
 * Operands of one kind: the SQL expression of an element to compare them with, which is NULL for elements of other kinds, its type, and their
 * values.
 */
interface OperandGroup {
  readonly key: string;
  readonly type: string;
  readonly values: Set<StoredValue>;
}

const element = 'e.value';
const scalar = { key: `(${element})::text`, type: 'text' };
const date = { key: dateOf(element), type: 'bigint' };
const content = { key: contentOf(element), type: 'jsonb' };
// A class name contains no $, so different Pointers have different keys.
const pointer = {
  key: `CASE WHEN ${element} ->> '__type' = 'Pointer' THEN (${element} ->> 'className') || '$' || (${element} ->> 'objectId') END`,
  type: 'text',
};

/** Row source with the column `e.value`: the elements of a json array; no rows for anything else. */
const elementsOf = (json: string) => `json_array_elements(CASE WHEN json_typeof(${json}) = 'array' THEN ${json} END) AS e(value)`;

/** Writes whether the array at a path has an element for any, or for all, of the operands, or only elements that match one of them. */
export function writeJsonHas(
  out: SqlOut,
  alias: string,
  ref: FieldRef,
  which: 'any' | 'all' | 'only',
  operands: readonly (JsonOperand | Regex)[],
): void {
  if (which === 'any' && canSeek(ref, operands)) {
    out.add(`(${containsAny(out, alias, ref, operands)})`);
    return;
  }
  const required = which === 'all' || (which === 'any' && operands.length === 1) ? operands : [];
  const contained = required.filter((operand) => operand.kind !== 'pattern').filter((operand) => isContainable(ref, operand));
  const terms: string[] = [];
  if (contained.length > 0) terms.push(contains(out, alias, ref, `[${contained.map(jsonOfOperand).join(',')}]`));
  // For scalars and Pointers containment equals membership, so they need no further check.
  const remaining = operands.filter((operand) => operand.kind === 'json' || !contained.some((one) => one === operand));
  if (remaining.length > 0 || contained.length === 0) {
    const json = placeOf(out, alias, ref);
    terms.push(isArray(ref, alias, json));
    for (const term of elementTerms(out, json, which, remaining)) terms.push(term);
  }
  out.add(`(${terms.join(' AND ')})`);
}

function elementTerms(
  out: SqlOut,
  json: string,
  which: 'any' | 'all' | 'only',
  operands: readonly (JsonOperand | Regex)[],
): string[] {
  const groups = groupOperands(operands);
  const elements = elementsOf(json);
  if (which === 'any') return [`EXISTS (SELECT 1 FROM ${elements} WHERE ${match(out, groups)})`];
  if (which === 'only') return [`NOT EXISTS (SELECT 1 FROM ${elements} WHERE (${match(out, groups)}) IS NOT TRUE)`];
  const counts = groups.map((group) => {
    const found = `SELECT count(DISTINCT ${group.key}) FROM ${elements} WHERE ${match(out, [group])}`;
    return `(${found}) = ${out.parameter(group.values.size)}::bigint`;
  });
  const patterns = operands.filter((operand) => operand.kind === 'pattern');
  return [...counts, ...patterns.map((regex) => `EXISTS (SELECT 1 FROM ${elements} WHERE ${matches(out, element, regex)})`)];
}

/** Writes whether the array at a path has an element of the operand's type that compares so with it. */
export function writeJsonHasOrdered(out: SqlOut, alias: string, ref: FieldRef, op: Comparison, operand: JsonOperand): void {
  if (!hasOrder(operand)) out.add('false');
  else out.add(`EXISTS (SELECT 1 FROM ${elementsOf(placeOf(out, alias, ref))} WHERE ${ordered(out, element, op, operand)})`);
}

/** Writes whether a path holds a Pointer to a class, or an array with one, whose id is among those that `ids` selects. */
export function writeJsonPointsInto(out: SqlOut, alias: string, ref: FieldRef, className: string, ids: () => void): void {
  const json = placeOf(out, alias, ref);
  const alone = ref.path.length === 0 ? '' : ` WHEN 'object' THEN json_build_array(${json})`;
  out.add(
    `EXISTS (SELECT 1 FROM json_array_elements(CASE json_typeof(${json}) WHEN 'array' THEN ${json}${alone} END) AS e(value)`,
  );
  out.add(' WHERE ');
  const isPointer = `${element} ->> '__type' = 'Pointer' AND ${element} ->> 'className' = ${out.parameter(className)}::text`;
  writeAmong(out, () => out.add(`CASE WHEN ${isPointer} THEN ${element} ->> 'objectId' END`), ids);
  out.add(')');
}

/** Writes rows with the wire value at a path, as jsonb, and with its elements if it is an array. */
export function writeWireTexts(out: SqlOut, alias: string, ref: FieldRef): void {
  const json = placeOf(out, alias, ref);
  out.add(
    `(SELECT (${json})::jsonb AS value UNION ALL SELECT nullif((${element})::jsonb, 'null'::jsonb) FROM ${elementsOf(json)})`,
  );
}

/** Whether the value is an array. A non-null Array column always is; a path may hold anything. */
function isArray({ field, path }: FieldRef, alias: string, json: string): string {
  return field.type === 'Array' && path.length === 0
    ? `${columnOf(alias, field.column)} IS NOT NULL`
    : `json_typeof(${json}) = 'array'`;
}

/**
 * Writes whether an operand is among the rows of a subquery, so that the subquery runs once and is hashed. The array makes the planner estimate few
 * rows; IS TRUE keeps it from a semi-join with the few elements of each row, which would scan the subquery's rows again for each.
 */
export function writeAmong(out: SqlOut, operand: () => void, query: () => void): void {
  out.add('(');
  operand();
  out.add(' IN (SELECT unnest(ARRAY(');
  query();
  out.add(')))) IS TRUE');
}

function match(out: SqlOut, groups: readonly OperandGroup[]): string {
  const terms = groups.map(({ key, type, values }) => {
    const [only] = values;
    if (values.size === 1 && only !== undefined) return `${key} = ${out.parameter(only)}::${type}`;
    // Also hashed; `= ANY` of a parameter would scan the list for every element.
    return `(${key} IN (SELECT unnest(${out.parameter(arrayLiteral([...values]))}::${type}[]))) IS TRUE`;
  });
  return terms.length === 0 ? 'false' : terms.join(' OR ');
}

function groupOperands(operands: readonly (JsonOperand | Regex)[]): OperandGroup[] {
  const groups = new Map<string, OperandGroup>();
  const add = (group: { readonly key: string; readonly type: string }, value: StoredValue) => {
    const known = groups.get(group.key);
    if (known) known.values.add(value);
    else groups.set(group.key, { ...group, values: new Set([value]) });
  };
  for (const operand of operands) {
    if (operand.kind === 'pattern') continue;
    if (operand.kind === 'date') add(date, Date.parse(operand.iso));
    else if (operand.kind === 'pointer') add(pointer, `${operand.className}$${operand.objectId}`);
    else if (operand.kind === 'json') add(content, operand.canonical);
    else add(scalar, jsonOfOperand(operand));
  }
  return [...groups.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
}
