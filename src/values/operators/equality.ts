import { canonicalJson, type JsonValue } from '../../kernel/json.ts';
import { parseIsoDate } from '../json/iso.ts';
import { namesRecord } from '../json/keys.ts';

/**
 * Returns a key that is equal for elements that AddUnique and Remove consider equal: Pointers by class and id, Dates by instant, everything
 * else by content, whatever the order of keys. Reference: records.md#field-operators.
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

/** Number of values that are compared in one step. */
const STEP_VALUES = 5_000;

/** Returns values without duplicates, as `withUnique` does, in steps. */
export function* distinct(values: readonly JsonValue[]): Generator<undefined, JsonValue[]> {
  const seen = new Elements([]);
  const kept: JsonValue[] = [];
  for (let at = 0; at < values.length; at++) {
    const value = values[at] as JsonValue;
    if (seen.add(value)) kept.push(value);
    if (at % STEP_VALUES === STEP_VALUES - 1) yield;
  }
  return kept;
}

/** Returns the elements followed by those of `added` that are not among them yet, without duplicates. */
export function withUnique(elements: readonly JsonValue[], added: readonly JsonValue[]): JsonValue[] {
  const missing = new Elements(added);
  for (const element of elements) {
    if (missing.size === 0) break;
    missing.take(element);
  }
  return [...elements, ...added.filter((value) => missing.take(value))];
}

/** Returns the elements without those that equal one of `removed`. */
export function without(elements: readonly JsonValue[], removed: readonly JsonValue[]): JsonValue[] {
  const gone = new Elements(removed);
  return elements.filter((element) => !gone.has(element));
}

/** The operands of an operator. The array that they meet may have millions of elements, so scalars are looked up without a key text. */
class Elements {
  readonly #plain = new Set<JsonValue>();
  readonly #keys = new Set<string>();

  constructor(values: readonly JsonValue[]) {
    for (const value of values) this.add(value);
  }

  /** @returns whether it was not there */
  add(value: JsonValue): boolean {
    const before = this.size;
    if (isPlain(value)) this.#plain.add(value);
    else this.#keys.add(elementKey(value));
    return this.size > before;
  }

  get size(): number {
    return this.#plain.size + this.#keys.size;
  }

  has(value: JsonValue): boolean {
    if (isPlain(value)) return this.#plain.has(value);
    return this.#keys.size > 0 && this.#keys.has(elementKey(value));
  }

  /** @returns whether it was there */
  take(value: JsonValue): boolean {
    if (isPlain(value)) return this.#plain.delete(value);
    return this.#keys.size > 0 && this.#keys.delete(elementKey(value));
  }
}

const isPlain = (value: JsonValue): boolean => typeof value !== 'object' || value === null;
