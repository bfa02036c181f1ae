import { fail } from '../../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';

/** Rejects a definition. @param why plain words that name the place. @throws invalidTrigger (107) */
export function refuse(why: string): never {
  fail('invalidTrigger', why);
}

/** Whether a text has the form of a generated id. */
export const isId = (text: string): boolean => /^[0-9A-Za-z]{10}$/.test(text);

/** Truncates text of a client for an error message. */
export const excerpt = (text: string): string => text.slice(0, limits.nameLength);

/** Returns the value under a key; `null` if it is absent. */
export const at = (object: JsonObject, key: string): JsonValue => own(object, key) ?? null;

/**
 * Asserts that a value is an object without other keys.
 * @param place its path in error messages
 * @throws invalidTrigger
 */
export function objectOf(value: JsonValue, place: string, keys: readonly string[]): JsonObject {
  if (!isJsonObject(value)) refuse(value === null ? `${place} is missing` : `${place} is not an object`);
  const other = Object.keys(value).find((key) => !keys.includes(key));
  return other === undefined ? value : refuse(`${place}.${excerpt(other)} is unknown`);
}

/**
 * Returns a mandatory text.
 * @param max characters
 * @throws invalidTrigger
 */
export function textAt(object: JsonObject, key: string, place: string, max: number): string {
  return optionalText(object, key, place, max) ?? refuse(`${place}${key} is missing`);
}

/** Returns a mandatory text that is not blank. @throws invalidTrigger */
export function filledText(object: JsonObject, key: string, place: string, max: number): string {
  const text = textAt(object, key, place, max);
  return text.trim() === '' ? refuse(`${place}${key} is empty`) : text;
}

/** Returns an optional text; `null` if absent. @throws invalidTrigger */
export function optionalText(object: JsonObject, key: string, place: string, max: number): string | null {
  const value = at(object, key);
  if (value === null) return null;
  if (typeof value !== 'string') refuse(`${place}${key} is not a text`);
  return value.length > max ? refuse(`${place}${key} is longer than ${max.toLocaleString('en')} characters`) : value;
}

/** Returns an optional Boolean; `absent` is the default. @throws invalidTrigger */
export function booleanAt(object: JsonObject, key: string, place: string, absent: boolean): boolean {
  const value = at(object, key) ?? absent;
  return typeof value === 'boolean' ? value : refuse(`${place}${key} is not true or false`);
}

/** Returns a mandatory array. @throws invalidTrigger */
export function arrayOf(value: JsonValue, place: string, max: number): JsonValue[] {
  if (value === null) refuse(`${place} is missing`);
  if (!Array.isArray(value)) refuse(`${place} is not an array`);
  return value.length > max ? refuse(`${place} has more than ${max.toLocaleString('en')} elements`) : value;
}
