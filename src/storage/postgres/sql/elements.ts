import type { Comparison, FieldRef, JsonOperand, Regex } from '../../../query/model/filter.ts';
import type { StoredValue } from '../../../values/types/type.ts';
import type { SqlOut } from '../../sql/dialect.ts';
import { arrayLiteral } from './arrays.ts';
import { canSeek, contains, containsAny, isContainable, wholeOf } from './contains.ts';
import { columnOf, contentOf, dateOf, hasOrder, matches, ordered, placeOf } from './json.ts';

/** The operands of one sort: an SQL expression over an element that is NULL for elements of another sort, and what it has to be. */
interface Sort {
  readonly key: string;
  readonly type: string;
  readonly values: Set<StoredValue>;
}

const element = 'e.value';
const scalar = { key: `(${element})::text`, type: 'text' };
const date = { key: dateOf(element), type: 'bigint' };
const content = { key: contentOf(element), type: 'jsonb' };
// A class name holds no $, so no two Pointers give the same text.
const pointer = {
  key: `CASE WHEN ${element} ->> '__type' = 'Pointer' THEN (${element} ->> 'className') || '$' || (${element} ->> 'objectId') END`,
  type: 'text',
};

/** Rows with the column `e.value`: the elements of the array that a json is; none where it is no array. */
const elementsOf = (json: string) => `json_array_elements(CASE WHEN json_typeof(${json}) = 'array' THEN ${json} END) AS e(value)`;

/** Whether the array at a place has an element for any, or for all, of the operands, or elements for these only. */
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
  if (contained.length > 0) terms.push(contains(out, alias, ref, `[${contained.map(wholeOf).join(',')}]`));
  // Scalars and Pointers are contained just where they are elements.
  const left = operands.filter((operand) => operand.kind === 'json' || !contained.some((one) => one === operand));
  if (left.length > 0 || contained.length === 0) {
    const json = placeOf(out, alias, ref);
    terms.push(isArray(ref, alias, json));
    for (const term of elementTerms(out, json, which, left)) terms.push(term);
  }
  out.add(`(${terms.join(' AND ')})`);
}

function elementTerms(
  out: SqlOut,
  json: string,
  which: 'any' | 'all' | 'only',
  operands: readonly (JsonOperand | Regex)[],
): string[] {
  const sorts = sorted(operands);
  const elements = elementsOf(json);
  if (which === 'any') return [`EXISTS (SELECT 1 FROM ${elements} WHERE ${match(out, sorts)})`];
  if (which === 'only') return [`NOT EXISTS (SELECT 1 FROM ${elements} WHERE (${match(out, sorts)}) IS NOT TRUE)`];
  const counts = sorts.map((sort) => {
    const found = `SELECT count(DISTINCT ${sort.key}) FROM ${elements} WHERE ${match(out, [sort])}`;
    return `(${found}) = ${out.parameter(sort.values.size)}::bigint`;
  });
  const patterns = operands.filter((operand) => operand.kind === 'pattern');
  return [...counts, ...patterns.map((regex) => `EXISTS (SELECT 1 FROM ${elements} WHERE ${matches(out, element, regex)})`)];
}

/** Whether the array at a place has an element of the operand's type in this order to it. */
export function writeJsonHasOrdered(out: SqlOut, alias: string, ref: FieldRef, op: Comparison, operand: JsonOperand): void {
  if (!hasOrder(operand)) out.add('false');
  else out.add(`EXISTS (SELECT 1 FROM ${elementsOf(placeOf(out, alias, ref))} WHERE ${ordered(out, element, op, operand)})`);
}

/** Whether a place holds a Pointer to a class, or an array with one, its id among those that `ids` selects. */
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

/** Rows with the wire value of a place, as jsonb, and of its elements, where it is an array. */
export function writeWireTexts(out: SqlOut, alias: string, ref: FieldRef): void {
  const json = placeOf(out, alias, ref);
  out.add(
    `(SELECT (${json})::jsonb AS value UNION ALL SELECT nullif((${element})::jsonb, 'null'::jsonb) FROM ${elementsOf(json)})`,
  );
}

/** An Array column is an array wherever it is not empty; a place may hold anything. */
function isArray({ field, path }: FieldRef, alias: string, json: string): string {
  return field.type === 'Array' && path.length === 0
    ? `${columnOf(alias, field.column)} IS NOT NULL`
    : `json_typeof(${json}) = 'array'`;
}

/**
 * Whether an operand is among the rows of a query, which runs once and is hashed: by its array the planner takes it for small, and IS TRUE
 * keeps it from being joined with the few elements of each row anew, for which it would be gone through again and again.
 */
export function writeAmong(out: SqlOut, operand: () => void, query: () => void): void {
  out.add('(');
  operand();
  out.add(' IN (SELECT unnest(ARRAY(');
  query();
  out.add(')))) IS TRUE');
}

function match(out: SqlOut, sorts: readonly Sort[]): string {
  const terms = sorts.map(({ key, type, values }) => {
    const [only] = values;
    if (values.size === 1 && only !== undefined) return `${key} = ${out.parameter(only)}::${type}`;
    // Hashed as well; `= ANY` of a parameter would be gone through for every element.
    return `(${key} IN (SELECT unnest(${out.parameter(arrayLiteral([...values]))}::${type}[]))) IS TRUE`;
  });
  return terms.length === 0 ? 'false' : terms.join(' OR ');
}

function sorted(operands: readonly (JsonOperand | Regex)[]): Sort[] {
  const sorts = new Map<string, Sort>();
  const put = (sort: { readonly key: string; readonly type: string }, value: StoredValue) => {
    const known = sorts.get(sort.key);
    if (known) known.values.add(value);
    else sorts.set(sort.key, { ...sort, values: new Set([value]) });
  };
  for (const operand of operands) {
    if (operand.kind === 'pattern') continue;
    if (operand.kind === 'date') put(date, Date.parse(operand.iso));
    else if (operand.kind === 'pointer') put(pointer, `${operand.className}$${operand.objectId}`);
    else if (operand.kind === 'json') put(content, operand.canonical);
    else put(scalar, wholeOf(operand));
  }
  return [...sorts.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
}
