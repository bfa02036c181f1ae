import { fail } from '../../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';

/** Refuses a definition. @param why plain words that name the place. @throws invalidTrigger (107) */
export function refuse(why: string): never {
  fail('invalidTrigger', why);
}

/** Whether a text has the form of ids that the service makes (SPEC "Limits": objectId, trigger ids). */
export const isId = (text: string): boolean => /^[0-9A-Za-z]{10}$/.test(text);

/** What a client wrote, cut for the text of an error. */
export const shown = (text: string): string => text.slice(0, limits.nameLength);

/** The value under a key; `null` where there is none. */
export const at = (object: JsonObject, key: string): JsonValue => own(object, key) ?? null;

/**
 * Insists on an object that has no other keys.
 * @param place how errors call it
 * @throws invalidTrigger
 */
export function objectOf(value: JsonValue, place: string, keys: readonly string[]): JsonObject {
  if (!isJsonObject(value)) refuse(value === null ? `${place} is missing` : `${place} is not an object`);
  const other = Object.keys(value).find((key) => !keys.includes(key));
  return other === undefined ? value : refuse(`${place}.${shown(other)} is unknown`);
}

/**
 * A text that has to be there.
 * @param most characters
 * @throws invalidTrigger
 */
export function textAt(object: JsonObject, key: string, place: string, most: number): string {
  return optionalText(object, key, place, most) ?? refuse(`${place}${key} is missing`);
}

/** A text that has to be there and says something. @throws invalidTrigger */
export function filledText(object: JsonObject, key: string, place: string, most: number): string {
  const text = textAt(object, key, place, most);
  return text.trim() === '' ? refuse(`${place}${key} is empty`) : text;
}

/** A text; `null` where there is none. @throws invalidTrigger */
export function optionalText(object: JsonObject, key: string, place: string, most: number): string | null {
  const value = at(object, key);
  if (value === null) return null;
  if (typeof value !== 'string') refuse(`${place}${key} is not a text`);
  return value.length > most ? refuse(`${place}${key} is longer than ${most.toLocaleString('en')} characters`) : value;
}

/** A Boolean; `absent` where there is none. @throws invalidTrigger */
export function booleanAt(object: JsonObject, key: string, place: string, absent: boolean): boolean {
  const value = at(object, key) ?? absent;
  return typeof value === 'boolean' ? value : refuse(`${place}${key} is not true or false`);
}

/** @throws invalidTrigger */
export function arrayOf(value: JsonValue, place: string, most: number): JsonValue[] {
  if (value === null) refuse(`${place} is missing`);
  if (!Array.isArray(value)) refuse(`${place} is not an array`);
  return value.length > most ? refuse(`${place} has more than ${most.toLocaleString('en')} elements`) : value;
}
