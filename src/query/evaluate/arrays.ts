import { canonicalJson, type JsonValue } from '../../kernel/json.ts';
import { memoByObject } from '../../kernel/memo.ts';
import type { Comparison, JsonOperand, Regex } from '../model/filter.ts';
import { instantOf } from '../where/context.ts';
import { textMatches } from './pattern.ts';
import { inOrder, isContent, keyOf, pointerKey } from './values.ts';

type Operands = readonly (JsonOperand | Regex)[];
type Place = JsonValue | undefined;

/** Operands by their sort, each as what an element of that sort is looked up by. */
interface Sought {
  readonly scalars: Set<JsonValue>;
  readonly instants: Set<JsonValue>;
  readonly pointers: Set<JsonValue>;
  readonly contents: Set<JsonValue>;
  readonly patterns: readonly Regex[];
}
type Sort = Exclude<keyof Sought, 'patterns'>;

/** Whether a place is an array with an element that matches one of the operands. */
export function hasAny(place: Place, operands: Operands): boolean {
  if (!Array.isArray(place)) return false;
  const sought = soughtOf(operands);
  return place.some((element) => isSought(element, sought));
}

/** Whether a place is an array with no element but those that match one of the operands. */
export function hasOnly(place: Place, operands: Operands): boolean {
  if (!Array.isArray(place)) return false;
  const sought = soughtOf(operands);
  return place.every((element) => isSought(element, sought));
}

/** Whether a place is an array with an element for each of the operands. */
export function hasAll(place: Place, operands: Operands): boolean {
  if (!Array.isArray(place)) return false;
  const { patterns, ...sorts } = soughtOf(operands);
  const isComplete = (Object.keys(sorts) as Sort[]).every((sort) => holdsEach(place, sort, sorts[sort]));
  return (
    isComplete && patterns.every((regex) => place.some((element) => typeof element === 'string' && textMatches(element, regex)))
  );
}

/** Whether a place is an array with an element of the operand's type in this order to it. */
export function elementInOrder(place: Place, op: Comparison, operand: JsonOperand): boolean {
  return Array.isArray(place) && place.some((element) => inOrder(element, op, operand));
}

function isSought(element: JsonValue, sought: Sought): boolean {
  if (!isContent(element)) return sought.scalars.has(element);
  return isAmong(element, 'instants', sought) || isAmong(element, 'pointers', sought) || isAmong(element, 'contents', sought);
}

function isAmong(element: JsonValue, sort: Sort, sought: Sought): boolean {
  const values = sought[sort];
  if (values.size === 0) return false;
  const key = keys[sort](element);
  return key !== undefined && values.has(key);
}

/** Both lists may be long, so none is gone through for each of the other. */
function holdsEach(array: readonly JsonValue[], sort: Sort, values: ReadonlySet<JsonValue>): boolean {
  const missing = new Set(values);
  for (const element of array) {
    if (missing.size === 0) return true;
    const key = keys[sort](element);
    if (key !== undefined) missing.delete(key);
  }
  return missing.size === 0;
}

/** What an element is looked up by, undefined where it is of another sort. An object may be of two: a Date is content too. */
const keys: Readonly<Record<Sort, (element: JsonValue) => JsonValue | undefined>> = {
  scalars: (element) => (isContent(element) ? undefined : element),
  instants: instantOf,
  pointers: pointerKey,
  contents: (element) => (isContent(element) ? canonicalJson(element) : undefined),
};

/** Lists belong to filters, so what was made of one is kept. */
const soughtOf = memoByObject(sorted);

function sorted(operands: Operands): Sought {
  const patterns: Regex[] = [];
  const sought: Sought = { scalars: new Set(), instants: new Set(), pointers: new Set(), contents: new Set(), patterns };
  for (const operand of operands) {
    if (operand.kind === 'pattern') patterns.push(operand);
    else if (operand.kind === 'date') sought.instants.add(Date.parse(operand.iso));
    else if (operand.kind === 'pointer') sought.pointers.add(keyOf(operand.className, operand.objectId));
    else if (operand.kind === 'json') sought.contents.add(operand.canonical);
    else sought.scalars.add(operand.kind === 'null' ? null : operand.value);
  }
  return sought;
}
