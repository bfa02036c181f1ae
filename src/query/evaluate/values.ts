import { canonicalJson, type JsonValue } from '../../kernel/json.ts';
import { memoByObject } from '../../kernel/memo.ts';
import type { StoredValue } from '../../values/index.ts';
import { pointerOf } from '../../values/types/pointer.ts';
import type { Comparison, JsonOperand } from '../model/filter.ts';
import { instantOf } from '../where/context.ts';

const setOf = memoByObject((values: readonly StoredValue[]): ReadonlySet<StoredValue> => new Set(values));

/** Whether a stored value compares to another of its type as `op` says; false if one is absent. */
export function compares(value: StoredValue, op: Comparison, other: StoredValue): boolean {
  if (op === 'eq') return value !== null && value === other;
  if (typeof value === 'string') return typeof other === 'string' && isOrder(op, compareTexts(value, other));
  if (value === null || other === null || typeof other === 'string') return false;
  return isOrder(op, Number(value) - Number(other));
}

/** Whether a stored value is one of a list; false if it is absent. Lists belong to filters, so their sets are cached. */
export function isOneOf(value: StoredValue, values: readonly StoredValue[]): boolean {
  return value !== null && setOf(values).has(value);
}

/** Compares texts by their UTF-8 bytes; returns a number below, equal to or above 0. */
export function compareTexts(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const one = a.charCodeAt(at);
    const other = b.charCodeAt(at);
    if (one !== other) return rank(one) - rank(other);
  }
  return a.length - b.length;
}

/** Characters made of surrogates are above all that have one unit. */
const rank = (unit: number) => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);

function isOrder(op: Comparison, order: number): boolean {
  switch (op) {
    case 'lt':
      return order < 0;
    case 'lte':
      return order <= 0;
    case 'gt':
      return order > 0;
    case 'gte':
      return order >= 0;
    case 'eq':
      return order === 0;
  }
}

/** Whether a JSON value compares to an operand of its type as `op` says. Null, Pointers, other objects and arrays have no order. */
export function inOrder(value: JsonValue | undefined, op: Comparison, operand: JsonOperand): boolean {
  if (value === undefined) return false;
  switch (operand.kind) {
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === operand.kind && compares(value as string | number | boolean, op, operand.value);
    case 'date':
      return compares(instantOf(value) ?? null, op, Date.parse(operand.iso));
    case 'null':
      return op === 'eq' && value === null;
    case 'pointer':
      return op === 'eq' && pointerKey(value) === keyOf(operand.className, operand.objectId);
    case 'json':
      return op === 'eq' && isContent(value) && canonicalJson(value) === operand.canonical;
  }
}

/** Returns a key that all Pointers to one record share; undefined if a value is no Pointer. */
export function pointerKey(value: JsonValue): string | undefined {
  const pointer = pointerOf(value);
  return pointer && keyOf(pointer.className, pointer.objectId);
}

/** Class names hold no `$`, so the keys of different Pointers differ. */
export const keyOf = (className: string, objectId: string): string => `${className}$${objectId}`;

/** Whether a value is an object or an array; these are compared by content. */
export function isContent(value: JsonValue): boolean {
  return typeof value === 'object' && value !== null;
}
