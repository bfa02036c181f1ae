import { createHmac, randomBytes } from 'node:crypto';

/** Bytes of a hash. */
const HASH_BYTES = 32;

/** HMAC-SHA-256 under a random key that exists only in this object: equal texts have equal hashes, which nobody can compute again later. */
export class KeyedHash {
  readonly #key: Buffer;

  /** @param key for tests */
  constructor(key: Buffer = randomBytes(HASH_BYTES)) {
    this.#key = key;
  }

  /** Returns 32 bytes. @param purpose separates hashes of the same text that must not be related */
  of(purpose: string, text: string): Buffer {
    return createHmac('sha256', this.#key).update(`${purpose}\0${text}`).digest();
  }

  /** Returns a whole number from 0 to 2^48 - 1. */
  numberOf(purpose: string, text: string): number {
    return this.of(purpose, text).readUIntBE(0, 6);
  }
}

/** Values that were computed, by text. Forgotten together when there are too many, so that memory stays flat. */
export class Memo<T> {
  readonly #values = new Map<string, T>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  get(text: string, compute: () => T): T {
    const known = this.#values.get(text);
    if (known !== undefined) return known;
    if (this.#values.size >= this.#max) this.#values.clear();
    const value = compute();
    this.#values.set(text, value);
    return value;
  }
}
