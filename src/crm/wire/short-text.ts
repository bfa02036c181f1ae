import { isJsonObject, type JsonValue } from '../../kernel/json.ts';

/** Characters of a text in a record that is one of many. */
const MAX_TEXT_LENGTH = 1_000;

/** A text of so many characters at most, `…` where it was longer. */
export function shortText(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most).toWellFormed()}…`;
}

/** The same value, its texts cut. @param most characters of each */
export function withShortTexts(value: JsonValue, most = MAX_TEXT_LENGTH): JsonValue {
  return mapTexts(value, (text) => shortText(text, most));
}

/** A value, or where it is long the beginning of its text and how long that is. */
export function beginningOf(value: JsonValue): JsonValue {
  const isText = typeof value === 'string';
  if (!isText && (typeof value !== 'object' || value === null)) return value;
  const text = isText ? value : JSON.stringify(value);
  return text.length <= MAX_TEXT_LENGTH ? value : `${shortText(text, MAX_TEXT_LENGTH)} (${text.length} characters)`;
}

/** A value with each of its texts changed. @param change told of the key that the text stands under */
export function mapTexts(value: JsonValue, change: (text: string, key: string) => string, key = ''): JsonValue {
  if (typeof value === 'string') return change(value, key);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change, key));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([name, inner]): [string, JsonValue] => [name, mapTexts(inner, change, name)]);
  return Object.fromEntries(entries);
}

/** A text that is cut tells of it: it is not to be sent back. */
export const cutText = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most)}… (+${text.length - most} characters)`;
