/** A value produced by JSON.parse. */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;
/** An object produced by JSON.parse. Look keys up with `own`. */
export interface JsonObject {
  [key: string]: JsonValue;
}

/** Whether a value is an object, not an array and not null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the value of an own key; `undefined` for anything inherited, so that `__proto__` and `constructor` find nothing. */
export function own(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Removes the byte order mark that some clients put before JSON and that readers may ignore (RFC 8259, 8.1). */
export function withoutMark(text: string): string {
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

/** Returns the JSON text of a value with the keys of every object in code-unit order: equal values give equal text. */
export function canonicalJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] as JsonValue)}`);
  return `{${members.join(',')}}`;
}

/** Whether a value contains more than a number of values, at any depth. */
export function hasMoreParts(value: JsonValue, max: number): boolean {
  let left = max;
  const count = (part: JsonValue): boolean => {
    if (typeof part !== 'object' || part === null) return false;
    for (const inner of Array.isArray(part) ? part : Object.values(part)) if (--left < 0 || count(inner)) return true;
    return false;
  };
  return count(value);
}

/** Returns the bytes of a value as JSON text in UTF-8. */
export const jsonBytes = (value: JsonValue | readonly JsonValue[]): number => Buffer.byteLength(JSON.stringify(value));

/** Returns an upper bound of `jsonBytes`, at a fraction of its cost. */
export function maxJsonBytes(value: JsonValue | readonly JsonValue[]): number {
  // An escape has six bytes, a number up to 24.
  if (typeof value === 'string') return 6 * value.length + 2;
  if (typeof value !== 'object' || value === null) return 24;
  let bytes = 2;
  if (Array.isArray(value)) for (const element of value) bytes += maxJsonBytes(element) + 1;
  // Not `Object.entries`: its pairs are a tenth of what a short call of a tool allocates.
  else for (const key of Object.keys(value)) bytes += 6 * key.length + 4 + maxJsonBytes((value as JsonObject)[key] as JsonValue);
  return bytes;
}

/** Returns the members of an object whose value is not `undefined`. */
export const omitUndefined = (members: Readonly<Record<string, JsonValue | undefined>>): JsonObject =>
  Object.fromEntries(Object.entries(members).filter((member): member is [string, JsonValue] => member[1] !== undefined));

/** Returns a text as it stands inside a JSON string. */
export const escapeJson = (text: string): string => JSON.stringify(text).slice(1, -1);

/** Returns the text that stands inside a JSON string. */
export const unescapeJson = (escaped: string): string => JSON.parse(`"${escaped}"`) as string;

/** Whether a character is the first half of a surrogate pair. @param code of UTF-16 */
export const isHighSurrogate = (code: number): boolean => (code & 0xfc00) === 0xd800;

/**
 * Returns the end of a piece of a text that starts at a position.
 * @param maxLength in characters; a surrogate pair is not split, since each piece is encoded by itself
 */
export function endOfPiece(text: string, at: number, maxLength: number): number {
  const end = at + maxLength;
  if (end >= text.length) return text.length;
  return isHighSurrogate(text.charCodeAt(end - 1)) ? end - 1 : end;
}

/** Whether a store can hold a text: no NUL and no lone surrogates. */
export const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed();

/** Whether a text is JSON. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
