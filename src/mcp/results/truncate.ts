import { isJsonObject, type JsonObject, type JsonValue, jsonBytes } from '../../kernel/json.ts';
import { countFitting } from './page.ts';

/** Maximum size of a part that is always kept. */
const MAX_KEPT_BYTES = 200;
const HINT = 'It was written; the answer would be too long to be told as a whole. Read it to see what is left out.';

/**
 * Shortens the answer of a write that is too long to the ids of what was written: a committed write must never look like an error.
 * @param value the tool's answer; with `dryRun` nothing was written
 * @param bytes maximum size
 */
export function shorten(value: JsonValue, bytes: number): JsonObject {
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
  for (const [name, part] of entries) if (jsonBytes(part) <= MAX_KEPT_BYTES) take(name, part);
  for (const [name, part] of entries)
    if (Array.isArray(part) && jsonBytes(part) > MAX_KEPT_BYTES)
      take(name, shortItems(part, left - jsonBytes(name) - FRAME_BYTES));
  return { ...Object.fromEntries(taken), ...notes };
}

/** Room for brackets and commas around a list. */
const FRAME_BYTES = 10;

/** Returns the items with their short fields, else only with their ids; as many as fit. */
function shortItems(items: readonly JsonValue[], bytes: number): JsonValue[] {
  let shown: JsonValue[] = [];
  for (const isKept of [isShort, isId]) {
    shown = items.map((item) => (isJsonObject(item) ? Object.fromEntries(Object.entries(item).filter(isKept)) : item));
    if (jsonBytes(shown) <= bytes) return shown;
  }
  return shown.slice(0, countFitting(shown, bytes));
}

const isShort = ([, value]: [string, JsonValue]): boolean =>
  (typeof value !== 'object' || value === null) && jsonBytes(value) <= MAX_KEPT_BYTES;

const isId = (entry: [string, JsonValue]): boolean => /Id$/.test(entry[0]) && isShort(entry);

/**
 * Truncates maps of strings, or maps of such maps, to a size; `truncated` names the parts that were cut.
 * @param parts in order of importance: later ones are cut first
 */
export function truncateMaps(parts: Readonly<Record<string, JsonObject>>, bytes: number): JsonObject {
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
