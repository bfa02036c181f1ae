import { fail } from '../../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import type { Field } from '../../schema/model.ts';
import { holdsQueries } from '../../schema/system-tables.ts';
import { isCheckedAhead, plainAhead, textAhead } from './checked-ahead.ts';
import { parseIsoDate } from './iso.ts';
import { wirePointer } from './wire.ts';

/**
 * Compared one by one: keys from JSON.parse are interned, so each comparison is one of pointers. The set of the same names in schema/model.ts
 * would hash every key of every value.
 */
const isForbidden = (key: string) => key === '__proto__' || key === 'constructor' || key === 'prototype';

const forbiddenKey = (key: string): never => fail('invalidFieldName', key);
const shortened = (text: string) => text.slice(0, limits.nameLength);

/**
 * Checks everything inside the value of an Array or Object field, or inside an operator: the keys at every depth, and the
 * Date and Pointer wrappers, which stay wrapped in the stored JSON and are compared there. Reference: types.md#names.
 * @throws invalidFieldName (105) for a forbidden key; invalidNestedKey (121) for `$` or `.` in a key; notAType (111) for a
 * malformed Date or Pointer; invalidJson (107) for a value that is too deep, and for a number that is not finite
 */
export function checkKeys(value: JsonValue, depth = 0): void {
  if (typeof value === 'number') checkFinite(value);
  if (typeof value !== 'object' || value === null) return;
  if (depth === 0 && isCheckedAhead(value)) return;
  if (depth >= limits.jsonDepth) fail('nestedTooDeep');
  if (Array.isArray(value)) {
    for (const element of value) checkKeys(element, depth + 1);
    return;
  }
  for (const key in value) {
    checkKey(key);
    checkKeys(value[key] as JsonValue, depth + 1);
  }
  checkWrapper(value);
}

/** Checks a key inside a value. @throws what `checkKeys` throws */
export function checkKey(key: string): void {
  if (isForbidden(key)) forbiddenKey(key);
  if (key.includes('$') || key.includes('.')) fail('invalidNestedKey', shortened(key));
}

/** Checks an object inside a value that claims to be a Date or a Pointer. @throws notAType (111) */
export function checkWrapper(value: JsonObject): void {
  const wrapper = value.__type;
  if (wrapper === 'Date') {
    if (typeof value.iso !== 'string' || parseIsoDate(value.iso) === null) fail('notAType', 'Date');
  } else if (wrapper === 'Pointer' && !namesRecord(value)) fail('notAType', 'Pointer');
}

/**
 * Checks everything inside a whole value of an Array or Object field. Fields that hold queries are exempt from most rules: their keys hold `$`
 * and `.`, and an apparent wrapper may be a template of one.
 * @throws what `checkKeys` throws; for queries only invalidFieldName (105) and invalidJson (107)
 */
export function checkFieldKeys(value: JsonObject | JsonValue[], { name }: Field, className: string): void {
  if (holdsQueries(className, name)) checkWrapperKeys(value);
  else checkKeys(value);
}

/**
 * Checks the keys of a wrapper (Date, Pointer, File, ACL, …), of which only the known ones are kept.
 * @throws invalidFieldName (105) for a forbidden key at any depth; invalidJson (107) for a value that is too deep, and for a number that
 * is not finite
 */
export function checkWrapperKeys(value: JsonObject | JsonValue[], depth = 0): void {
  if (depth >= limits.jsonDepth) fail('nestedTooDeep');
  if (Array.isArray(value)) {
    for (const element of value) checkInWrapper(element, depth);
    return;
  }
  for (const key in value) {
    if (isForbidden(key)) forbiddenKey(key);
    checkInWrapper(value[key] as JsonValue, depth);
  }
}

function checkInWrapper(value: JsonValue, depth: number): void {
  if (typeof value === 'number') checkFinite(value);
  else if (typeof value === 'object' && value !== null && !(depth === 0 && textAhead(value) !== undefined))
    checkWrapperKeys(value, depth + 1);
}

/**
 * JSON cannot express numbers that are not finite, so answers with them would be invalid. @throws invalidJson (107) for a number that is not finite
 */
export function checkFinite(value: number): void {
  if (!Number.isFinite(value)) fail('invalidJson', 'a number is too large');
}

/**
 * Checks the part of a dotted name that follows the field: `a.0.b` is `['a', '0', 'b']`.
 * @param name the whole name, for the text of errors
 * @throws invalidFieldName (105) for an empty or forbidden segment, or too many; invalidNestedKey (121) for `$` in one
 */
export function checkPath(path: readonly string[], name = path.join('.')): void {
  if (path.length >= limits.jsonDepth) fail('invalidFieldName', shortened(name));
  for (const segment of path) {
    if (segment === '' || isForbidden(segment)) fail('invalidFieldName', shortened(name));
    if (segment.includes('$')) fail('invalidNestedKey', shortened(segment));
  }
}

/** Whether an object names a record, as a Pointer and an included record do. */
export function namesRecord(value: JsonObject): value is JsonObject & { className: string; objectId: string } {
  return typeof value.className === 'string' && typeof value.objectId === 'string' && value.objectId !== '';
}

/** Converts included records (`{__type: Object, className, objectId, ...}`) among the elements of an Array back to Pointers. */
export function withoutIncluded(elements: JsonValue[]): JsonValue[] {
  const ahead = plainAhead(elements);
  if (ahead) return ahead;
  return elements.some(isIncluded) ? elements.map((element) => (isIncluded(element) ? pointerTo(element) : element)) : elements;
}

function isIncluded(value: JsonValue): value is JsonObject & { className: string; objectId: string } {
  return isJsonObject(value) && value.__type === 'Object' && namesRecord(value);
}

function pointerTo(value: JsonObject & { className: string; objectId: string }): JsonObject {
  checkWrapperKeys(value);
  return wirePointer(value.className, value.objectId);
}
