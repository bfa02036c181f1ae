import { fail } from '../../../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../../kernel/json.ts';
import { parseIsoDate } from '../../../values/index.ts';

/**
 * Returns the comparison key of a row or record: the values of some fields in wire form.
 * @returns `null` if a field has no value
 * @throws badRow (107) for a value that cannot be compared
 */
export function keyOf(body: JsonObject, names: readonly string[]): string | null {
  const parts: string[] = [];
  for (const name of names) {
    const part = partOf(own(body, name), name);
    if (part === null) return null;
    parts.push(part);
  }
  return parts.length === 1 ? (parts[0] ?? null) : JSON.stringify(parts);
}

function partOf(value: JsonValue | undefined, name: string): string | null {
  if (value === undefined || value === null || value === '') return null;
  if (typeof value !== 'object') return String(value);
  if (isJsonObject(value)) {
    if (value.__type === 'Date' && typeof value.iso === 'string') return String(parseIsoDate(value.iso) ?? value.iso);
    if (value.__type === 'Pointer' && typeof value.objectId === 'string') return value.objectId;
  }
  return fail('badRow', `rows are not matched on such a value of ${name}`);
}

const FIRST_SIZE = 1 << 12;

/** A set of keys, at eight bytes each. Stores hashes, so among many millions of keys two may collide. */
export class KeyDigests {
  #slots = new Float64Array(FIRST_SIZE);
  #count = 0;

  add(key: string): void {
    if (this.#count * 4 > this.#slots.length * 3) this.#double();
    if (this.#put(digestOf(key))) this.#count++;
  }

  has(key: string): boolean {
    const digest = digestOf(key);
    return this.#slots[this.#slotOf(digest)] === digest;
  }

  #put(digest: number): boolean {
    const slot = this.#slotOf(digest);
    if (this.#slots[slot] === digest) return false;
    this.#slots[slot] = digest;
    return true;
  }

  #slotOf(digest: number): number {
    let slot = digest % this.#slots.length;
    while (this.#slots[slot] !== 0 && this.#slots[slot] !== digest) slot = (slot + 1) % this.#slots.length;
    return slot;
  }

  #double(): void {
    const before = this.#slots;
    this.#slots = new Float64Array(before.length * 2);
    for (const digest of before) if (digest !== 0) this.#put(digest);
  }
}

/** 53-bit hash of a text, never 0 (cyrb53). */
function digestOf(text: string): number {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    a = Math.imul(a ^ code, 2654435761);
    b = Math.imul(b ^ code, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return 4294967296 * (2097151 & b) + (a >>> 0) || 1;
}
