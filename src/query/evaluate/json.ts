import { canonicalJson, type JsonValue } from '../../kernel/json.ts';
import { pointerOf } from '../../values/pointer.ts';
import type { Comparison, JsonOperand } from '../filter.ts';
import { instantOf } from '../where/context.ts';
import { standsTo } from './values.ts';

/** Whether a JSON value stands so to an operand of its type. Null, Pointers, other objects and arrays have no order. */
export function inOrder(value: JsonValue | undefined, op: Comparison, operand: JsonOperand): boolean {
  if (value === undefined) return false;
  switch (operand.kind) {
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === operand.kind && standsTo(value as string | number | boolean, op, operand.value);
    case 'date':
      return standsTo(instantOf(value) ?? null, op, Date.parse(operand.iso));
    case 'null':
      return op === 'eq' && value === null;
    case 'pointer':
      return op === 'eq' && pointerKey(value) === keyOf(operand.className, operand.objectId);
    case 'json':
      return op === 'eq' && isContent(value) && canonicalJson(value) === operand.canonical;
  }
}

/** A text that Pointers to one record share; undefined where a value is no Pointer. */
export function pointerKey(value: JsonValue): string | undefined {
  const pointer = pointerOf(value);
  return pointer && keyOf(pointer.className, pointer.objectId);
}

/** A class name holds no $, so no two Pointers give the same text. */
export const keyOf = (className: string, objectId: string): string => `${className}$${objectId}`;

/** Whether a value is an object or an array, which are equal by content. */
export function isContent(value: JsonValue): boolean {
  return typeof value === 'object' && value !== null;
}
