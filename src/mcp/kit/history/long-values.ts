import type { JsonValue } from '../../../kernel/json.ts';

/** Characters of a value that a list of changes shows. */
const SHOWN = 1_000;

/** A value, or where it is long the beginning of its text. */
export function shortened(value: JsonValue): JsonValue {
  const isText = typeof value === 'string';
  if (!isText && (typeof value !== 'object' || value === null)) return value;
  const text = isText ? value : JSON.stringify(value);
  if (text.length <= SHOWN) return value;
  return `${text.slice(0, SHOWN).toWellFormed()}… (${text.length} characters)`;
}
