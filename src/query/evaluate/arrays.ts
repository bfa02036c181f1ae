import { canonicalJson, type JsonValue } from '../../kernel/json.ts';
import { memoByObject } from '../../kernel/memo.ts';
import type { Comparison, JsonOperand, Regex } from '../model/filter.ts';
import { instantOf } from '../where/context.ts';
import { textMatches } from './pattern.ts';
import { inOrder, isContent, keyOf, pointerKey } from './values.ts';

type Operands = readonly (JsonOperand | Regex)[];
type Place = JsonValue | undefined;

/** Operands by sort, each as the key by which an element of that sort is looked up. */
interface OperandSets {
  readonly scalars: Set<JsonValue>;
  readonly instants: Set<JsonValue>;
  readonly pointers: Set<JsonValue>;
  readonly contents: Set<JsonValue>;
  readonly patterns: readonly Regex[];
}
type Sort = Exclude<keyof OperandSets, 'patterns'>;

/** Whether a place is an array with an element that matches one of the operands. */
export function hasAny(place: Place, operands: Operands): boolean {
  if (!Array.isArray(place)) return false;
  const sets = operandSetsOf(operands);
  return place.some((element) => matchesAny(element, sets));
}

/** Whether a place is an array whose elements all match one of the operands. */
export function hasOnly(place: Place, operands: Operands): boolean {
  if (!Array.isArray(place)) return false;
  const sets = operandSetsOf(operands);
  return place.every((element) => matchesAny(element, sets));
}

/** Whether a place is an array with an element for each of the operands. */
export function hasAll(place: Place, operands: Operands): boolean {
  if (!Array.isArray(place)) return false;
  const { patterns, ...sorts } = operandSetsOf(operands);
  const isComplete = (Object.keys(sorts) as Sort[]).every((sort) => holdsEach(place, sort, sorts[sort]));
  return (
    isComplete && patterns.every((regex) => place.some((element) => typeof element === 'string' && textMatches(element, regex)))
  );
}

/** Whether a place is an array with an element of the operand's type that compares to it as `op` says. */
export function elementInOrder(place: Place, op: Comparison, operand: JsonOperand): boolean {
  return Array.isArray(place) && place.some((element) => inOrder(element, op, operand));
}

function matchesAny(element: JsonValue, sets: OperandSets): boolean {
  if (!isContent(element)) return sets.scalars.has(element);
  return isAmong(element, 'instants', sets) || isAmong(element, 'pointers', sets) || isAmong(element, 'contents', sets);
}

function isAmong(element: JsonValue, sort: Sort, sets: OperandSets): boolean {
  const values = sets[sort];
  if (values.size === 0) return false;
  const key = keys[sort](element);
  return key !== undefined && values.has(key);
}

/** Linear in the sum of both lengths, since both lists may be long. */
function holdsEach(array: readonly JsonValue[], sort: Sort, values: ReadonlySet<JsonValue>): boolean {
  const missing = new Set(values);
  for (const element of array) {
    if (missing.size === 0) return true;
    const key = keys[sort](element);
    if (key !== undefined) missing.delete(key);
  }
  return missing.size === 0;
}

/** Returns the lookup key of an element, undefined if it is of another sort. An object may be of two sorts: a Date is content too. */
const keys: Readonly<Record<Sort, (element: JsonValue) => JsonValue | undefined>> = {
  scalars: (element) => (isContent(element) ? undefined : element),
  instants: instantOf,
  pointers: pointerKey,
  contents: (element) => (isContent(element) ? canonicalJson(element) : undefined),
};

/** Operand lists belong to filters, so the sorted form is cached by list. */
const operandSetsOf = memoByObject(sorted);

function sorted(operands: Operands): OperandSets {
  const patterns: Regex[] = [];
  const sets: OperandSets = { scalars: new Set(), instants: new Set(), pointers: new Set(), contents: new Set(), patterns };
  for (const operand of operands) {
    if (operand.kind === 'pattern') patterns.push(operand);
    else if (operand.kind === 'date') sets.instants.add(Date.parse(operand.iso));
    else if (operand.kind === 'pointer') sets.pointers.add(keyOf(operand.className, operand.objectId));
    else if (operand.kind === 'json') sets.contents.add(operand.canonical);
    else sets.scalars.add(operand.kind === 'null' ? null : operand.value);
  }
  return sets;
}
