import { setTimeout as wait } from 'node:timers/promises';

/** A value is read again only after this many times as long as reading it took. */
const REST_FACTOR = 50;

/** A value that is expensive to read: it is read in the background while it is asked for, and given until it has been read again. */
export class Remembered<T> {
  readonly #read: () => Promise<T>;
  readonly #maxAgeMs: number;
  readonly #failed: (error: unknown) => void;
  #value: T | undefined;
  /** By `performance.now()`. */
  #due = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  /**
   * @param maxAgeMs age after which it is read again
   * @param failed called with the error if that fails; the former value stays
   */
  constructor(read: () => Promise<T>, maxAgeMs: number, failed: (error: unknown) => void) {
    this.#read = read;
    this.#maxAgeMs = maxAgeMs;
    this.#failed = failed;
  }

  /** Returns the known value. @param waitMs longest wait for the first one @returns `undefined` if it is not known by then */
  async get(waitMs: number): Promise<T | undefined> {
    if (performance.now() >= this.#due) this.#reading ??= this.#begin();
    if (this.#value === undefined && this.#reading) await Promise.race([this.#reading, wait(waitMs, undefined, { ref: false })]);
    return this.#value;
  }

  async #begin(): Promise<void> {
    const began = performance.now();
    try {
      this.#value = await this.#read();
    } catch (error) {
      this.#failed(error);
    } finally {
      const now = performance.now();
      this.#due = now + Math.max(this.#maxAgeMs, REST_FACTOR * (now - began));
      this.#reading = undefined;
    }
  }
}
