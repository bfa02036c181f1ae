import { hash, randomBytes } from 'node:crypto';

const ALGORITHM = 'sha256';
const HASH_BYTES = 32;
const BLOCK_BYTES = 64;
/** Texts of up to this many characters need no buffer of their own. */
const USUAL_CHARS = 400;
/** Longer texts are not kept: there may be many, and few of them twice. */
const MAX_KEPT_CHARS = 64;

/**
 * HMAC-SHA-256 (RFC 2104) under a random key that exists only in this object: equal texts have equal hashes, which cannot be computed again later.
 * Made of two one-shot hashes, since an `Hmac` object takes five times as long as they do.
 */
export class KeyedHash {
  readonly #inner = Buffer.alloc(BLOCK_BYTES + 3 * USUAL_CHARS);
  readonly #outer = Buffer.alloc(BLOCK_BYTES + HASH_BYTES);

  /** @param key 32 bytes; given by tests */
  constructor(key: Buffer = randomBytes(HASH_BYTES)) {
    key.copy(this.#inner);
    key.copy(this.#outer);
    for (let at = 0; at < BLOCK_BYTES; at++) {
      this.#inner[at] = (this.#inner[at] ?? 0) ^ 0x36;
      this.#outer[at] = (this.#outer[at] ?? 0) ^ 0x5c;
    }
  }

  /** Returns 32 bytes. @param purpose separates hashes of the same text that must not be related */
  of(purpose: string, text: string): Buffer {
    const message = `${purpose}\0${text}`;
    hash(ALGORITHM, this.#keyed(message), 'buffer').copy(this.#outer, BLOCK_BYTES);
    return hash(ALGORITHM, this.#outer, 'buffer');
  }

  /** Returns a message behind the key. */
  #keyed(message: string): Buffer {
    if (message.length > USUAL_CHARS) return Buffer.concat([this.#inner.subarray(0, BLOCK_BYTES), Buffer.from(message)]);
    return this.#inner.subarray(0, BLOCK_BYTES + this.#inner.write(message, BLOCK_BYTES));
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
    if (text.length > MAX_KEPT_CHARS) return compute();
    const known = this.#values.get(text);
    if (known !== undefined) return known;
    if (this.#values.size >= this.#max) this.#values.clear();
    const value = compute();
    this.#values.set(text, value);
    return value;
  }
}
