import { isJsonObject, type JsonObject, type JsonValue } from '../../../kernel/json.ts';
import { bytesOf } from './bytes.ts';
import { fit } from './page.ts';

/** Bytes of a part that is told in any case. */
const SHORT = 200;
const HINT = 'It was written; the answer would be too long to be told as a whole. Read it to see what is left out.';

/**
 * The answer of a write that is too long, cut to what names what was written: a write that stands is never told as an error.
 * @param value what the tool answered; with `dryRun` nothing was written
 * @param bytes that the answer may have
 */
export function shortForm(value: JsonValue, bytes: number): JsonObject {
  const parts = isJsonObject(value) ? value : {};
  const notes = { truncated: true, ...(parts.dryRun !== true && { hint: HINT }) };
  const taken = new Map<string, JsonValue>();
  let left = bytes - bytesOf(notes);
  const take = (name: string, part: JsonValue): void => {
    const size = bytesOf(name) + bytesOf(part) + 2;
    if (size > left) return;
    left -= size;
    taken.set(name, part);
  };
  const entries = Object.entries(parts);
  for (const [name, part] of entries) if (bytesOf(part) <= SHORT) take(name, part);
  for (const [name, part] of entries)
    if (Array.isArray(part) && bytesOf(part) > SHORT) take(name, shortItems(part, left - bytesOf(name) - FRAME_BYTES));
  return { ...Object.fromEntries(taken), ...notes };
}

/** Brackets and commas around a list. */
const FRAME_BYTES = 10;

/** The items with what is short in them, else with their ids alone; as many as fit. */
function shortItems(items: readonly JsonValue[], bytes: number): JsonValue[] {
  let shown: JsonValue[] = [];
  for (const isKept of [isShort, isId]) {
    shown = items.map((item) => (isJsonObject(item) ? Object.fromEntries(Object.entries(item).filter(isKept)) : item));
    if (bytesOf(shown) <= bytes) return shown;
  }
  return shown.slice(0, fit(shown, bytes));
}

const isShort = ([, value]: [string, JsonValue]): boolean =>
  (typeof value !== 'object' || value === null) && bytesOf(value) <= SHORT;

const isId = (entry: [string, JsonValue]): boolean => /Id$/.test(entry[0]) && isShort(entry);
