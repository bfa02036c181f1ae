import { fail } from '../../errors/fail.ts';
import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import { typeOfValue } from '../json/infer.ts';
import { checkPath } from '../json/keys.ts';
import { without, withUnique } from './equality.ts';

type Container = JsonValue[] | JsonObject;

/**
 * Applies edits to a column's JSON, in their order. Pure: engines call it inside the write.
 *
 * Null and absent are the same. Missing Objects on the way to a place are created if a value is put there; Remove and unset create
 * nothing. A numeric segment is a position if the value there is an Array; an Array grows only at its end, and unset leaves null at a
 * position, so that the other elements keep theirs. Reference: records.md#places-inside-objects-and-arrays.
 * @param current JSON text of an Array or Object column; `null` if it is empty
 * @param type the column's type, which decides what an empty column starts as
 * @param label `<Table>.<Field>`, for the text of errors
 * @returns JSON text; `null` if the column becomes empty
 * @throws placeMismatch (111) if an operator meets a value of another type; badOperator (107) for a sum that is not finite;
 * invalidFieldName (105), invalidNestedKey (121) for a path
 */
export function applyEdits(
  current: string | null,
  edits: readonly JsonEdit[],
  type: 'Array' | 'Object' = 'Object',
  label = '',
): string | null {
  let root: JsonValue = current === null ? null : JSON.parse(current);
  // Later edits may change values that earlier ones inserted; the caller's values must stay unchanged.
  for (const edit of edits.length > 1 ? structuredClone(edits) : edits) {
    if (edit.path.length === 0) root = edited(root, edit, label) ?? null;
    else root = editInside(root, edit, type, label);
  }
  return root === null ? null : JSON.stringify(root);
}

function editInside(root: JsonValue, edit: JsonEdit, type: 'Array' | 'Object', label: string): JsonValue {
  checkPath(edit.path);
  const last = edit.path.length - 1;
  const segment = edit.path[last] as string;
  // Setting `__type` alone could turn an unchecked Object into a wrapper.
  if (segment === '__type') fail('invalidFieldName', segment);
  const creates = edit.op !== 'unset' && edit.op !== 'remove';
  if (root === null && !creates) return null;
  const start = root ?? (type === 'Array' ? [] : {});
  let container = start;
  for (let depth = 0; depth <= last; depth++) {
    if (typeof container !== 'object' || container === null)
      return creates ? misfit(label, edit, depth, 'Object', container) : root;
    if (depth === last) break;
    const step = edit.path[depth] as string;
    let next = read(container, step);
    if (next === undefined || next === null) {
      if (!creates) return root;
      next = {};
      write(container, step, next, edit, label);
    }
    container = next;
  }
  const before = read(container as Container, segment);
  if (creates || (before !== undefined && before !== null))
    write(container as Container, segment, edited(before, edit, label), edit, label);
  return start;
}

/** Returns the value at a place after an edit; `undefined` if there is none. */
function edited(before: JsonValue | undefined, edit: JsonEdit, label: string): JsonValue | undefined {
  const absent = before === undefined || before === null;
  switch (edit.op) {
    case 'set':
      return edit.value;
    case 'unset':
      return undefined;
    case 'setOnInsert':
      return absent ? edit.value : before;
    case 'increment': {
      if (!absent && typeof before !== 'number') return misfit(label, edit, edit.path.length, 'Number', before);
      const sum = (absent ? 0 : before) + edit.amount;
      return Number.isFinite(sum) ? sum : fail('badOperator', 'Increment leaves the range of numbers');
    }
    default: {
      if (!absent && !Array.isArray(before)) return misfit(label, edit, edit.path.length, 'Array', before);
      const elements = absent ? [] : before;
      if (edit.op === 'add') return [...elements, ...edit.objects];
      return edit.op === 'addUnique' ? withUnique(elements, edit.objects) : without(elements, edit.objects);
    }
  }
}

function read(container: Container, segment: string): JsonValue | undefined {
  if (Array.isArray(container)) return container[position(segment)];
  return Object.hasOwn(container, segment) ? container[segment] : undefined;
}

function write(container: Container, segment: string, value: JsonValue | undefined, edit: JsonEdit, label: string): void {
  if (Array.isArray(container)) {
    const at = position(segment);
    if (at < 0 || at > container.length)
      fail('placeMismatch', placeText(label, edit.path), `a position up to ${container.length}`, segment.slice(0, 50));
    container[at] = value ?? null;
  } else if (value === undefined) delete container[segment];
  else container[segment] = value;
}

const digits = /^(?:0|[1-9]\d{0,9})$/;

/** Returns the position in an Array that a segment names; -1 for none. */
function position(segment: string): number {
  return digits.test(segment) ? Number(segment) : -1;
}

function misfit(label: string, { path }: JsonEdit, depth: number, expected: string, got: JsonValue): never {
  fail('placeMismatch', placeText(label, path.slice(0, depth)), expected, typeOfValue(got));
}

const placeText = (label: string, path: readonly string[]) => [label, ...path].join('.').slice(0, 200);

/** A change of an Array or Object column, or of a place inside it (`path`; empty: the column's value itself). */
export type JsonEdit = { readonly path: readonly string[] } & (
  | { readonly op: 'set'; readonly value: JsonValue }
  | { readonly op: 'unset' }
  | { readonly op: 'increment'; readonly amount: number }
  | { readonly op: 'setOnInsert'; readonly value: JsonValue }
  | { readonly op: 'add' | 'addUnique' | 'remove'; readonly objects: readonly JsonValue[] }
);
