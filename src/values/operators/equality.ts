import { canonicalJson, type JsonValue } from '../../kernel/json.ts';
import { parseIsoDate } from '../iso.ts';
import { namesRecord } from '../keys.ts';

/**
 * Text that is the same for elements that AddUnique and Remove take for equal: Pointers by class and id, Dates by their
 * instant, all else by content, whatever the order of keys.
 */
export function elementKey(value: JsonValue): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return String(value);
  if (!Array.isArray(value)) {
    if (value.__type === 'Pointer' && namesRecord(value)) return `Pointer ${value.className} ${value.objectId}`;
    const instant = value.__type === 'Date' && typeof value.iso === 'string' ? parseIsoDate(value.iso) : null;
    if (instant !== null) return `Date ${instant}`;
  }
  return canonicalJson(value);
}

/** The elements followed by those of `added` that are not among them yet, none of these twice. */
export function withUnique(elements: readonly JsonValue[], added: readonly JsonValue[]): JsonValue[] {
  const known = new Set(elements.map(elementKey));
  const result = [...elements];
  for (const value of added) {
    const key = elementKey(value);
    if (known.has(key)) continue;
    known.add(key);
    result.push(value);
  }
  return result;
}

/** The elements without those that equal one of `removed`. */
export function without(elements: readonly JsonValue[], removed: readonly JsonValue[]): JsonValue[] {
  const keys = new Set(removed.map(elementKey));
  return elements.filter((element) => !keys.has(elementKey(element)));
}
