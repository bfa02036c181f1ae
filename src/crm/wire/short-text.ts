import { isJsonObject, type JsonValue } from '../../kernel/json.ts';

/** Maximum number of characters of a text in lists of records. */
const MAX_TEXT_LENGTH = 1_000;

/** Truncates a text to a maximum length, marked by `…`. */
export function shortText(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength).toWellFormed()}…`;
}

/** Truncates each text of a value. @param maxLength maximum characters of each */
export function withShortTexts(value: JsonValue, maxLength = MAX_TEXT_LENGTH): JsonValue {
  return mapTexts(value, (text) => shortText(text, maxLength));
}

/** Returns a value, or if it is long the beginning of its text with the full length. */
export function beginningOf(value: JsonValue): JsonValue {
  const isText = typeof value === 'string';
  if (!isText && (typeof value !== 'object' || value === null)) return value;
  const text = isText ? value : JSON.stringify(value);
  return text.length <= MAX_TEXT_LENGTH ? value : `${shortText(text, MAX_TEXT_LENGTH)} (${text.length} characters)`;
}

/** Applies a function to each text of a value. @param change also receives the key of the text */
export function mapTexts(value: JsonValue, change: (text: string, key: string) => string, key = ''): JsonValue {
  if (typeof value === 'string') return change(value, key);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change, key));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([name, inner]): [string, JsonValue] => [name, mapTexts(inner, change, name)]);
  return Object.fromEntries(entries);
}

/** Truncates a text and appends the number of omitted characters: such a text must not be sent back. */
export const cutText = (text: string, maxLength: number): string =>
  text.length <= maxLength ? text : `${text.slice(0, maxLength)}… (+${text.length - maxLength} characters)`;
