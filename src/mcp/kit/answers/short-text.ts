import type { JsonValue } from '../../../kernel/json.ts';
import { mapTexts } from '../values/texts.ts';

/** Characters of a text in a record that is one of many. */
const MOST_CHARACTERS = 1_000;

/** A text of so many characters at most, `…` where it was longer. */
export function shortText(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most).toWellFormed()}…`;
}

/** The same value, its texts cut. @param most characters of each */
export function withShortTexts(value: JsonValue, most = MOST_CHARACTERS): JsonValue {
  return mapTexts(value, (text) => shortText(text, most));
}

/** A value, or where it is long the beginning of its text and how long that is. */
export function beginningOf(value: JsonValue): JsonValue {
  const isText = typeof value === 'string';
  if (!isText && (typeof value !== 'object' || value === null)) return value;
  const text = isText ? value : JSON.stringify(value);
  return text.length <= MOST_CHARACTERS ? value : `${shortText(text, MOST_CHARACTERS)} (${text.length} characters)`;
}
