import { isJsonObject, type JsonObject, type JsonValue, jsonBytes } from '../../kernel/json.ts';
import { fit } from './page.ts';

/** Bytes of a part that is told in any case. */
const SHORT_BYTES = 200;
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
  let left = bytes - jsonBytes(notes);
  const take = (name: string, part: JsonValue): void => {
    const size = jsonBytes(name) + jsonBytes(part) + 2;
    if (size > left) return;
    left -= size;
    taken.set(name, part);
  };
  const entries = Object.entries(parts);
  for (const [name, part] of entries) if (jsonBytes(part) <= SHORT_BYTES) take(name, part);
  for (const [name, part] of entries)
    if (Array.isArray(part) && jsonBytes(part) > SHORT_BYTES) take(name, shortItems(part, left - jsonBytes(name) - FRAME_BYTES));
  return { ...Object.fromEntries(taken), ...notes };
}

/** Brackets and commas around a list. */
const FRAME_BYTES = 10;

/** The items with what is short in them, else with their ids alone; as many as fit. */
function shortItems(items: readonly JsonValue[], bytes: number): JsonValue[] {
  let shown: JsonValue[] = [];
  for (const isKept of [isShort, isId]) {
    shown = items.map((item) => (isJsonObject(item) ? Object.fromEntries(Object.entries(item).filter(isKept)) : item));
    if (jsonBytes(shown) <= bytes) return shown;
  }
  return shown.slice(0, fit(shown, bytes));
}

const isShort = ([, value]: [string, JsonValue]): boolean =>
  (typeof value !== 'object' || value === null) && jsonBytes(value) <= SHORT_BYTES;

const isId = (entry: [string, JsonValue]): boolean => /Id$/.test(entry[0]) && isShort(entry);

/**
 * Maps of texts, or of maps of these, as far as they fit; `truncated` names the parts that are cut.
 * @param parts those that come first are cut last
 */
export function withinBytes(parts: Readonly<Record<string, JsonObject>>, bytes: number): JsonObject {
  let left = bytes - JSON.stringify(Object.keys(parts)).length * 2;
  const truncated: string[] = [];
  const shown = Object.entries(parts).map(([name, part]): [string, JsonObject] => {
    const entries = Object.entries(part);
    let count = 0;
    for (const entry of entries) {
      left -= jsonBytes(entry) + 1;
      if (left < 0) break;
      count++;
    }
    if (count < entries.length) truncated.push(name);
    return [name, Object.fromEntries(entries.slice(0, count))];
  });
  return { ...Object.fromEntries(shown), ...(truncated.length > 0 && { truncated }) };
}
