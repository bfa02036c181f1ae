/** Milliseconds until a read that waited for a lock is put before others again. */
const HELD_MS = 1_000;
/** Texts that are remembered. */
const MAX_TEXTS = 500;

/**
 * Reads that waited for a lock, by their text: others stand behind a read on a shared connection, and of those that come while a table is
 * locked each would hold them up. One a second finds out whether it still is.
 */
export class BlockedReads {
  readonly #until = new Map<string, number>();

  /** Whether a read is better done on a connection of its own. */
  has(text: string): boolean {
    if (this.#until.size === 0) return false;
    const until = this.#until.get(text);
    if (until === undefined) return false;
    const now = performance.now();
    if (now < until) return true;
    this.#until.set(text, now + HELD_MS);
    return false;
  }

  /** It waited for a lock. */
  add(text: string): void {
    if (this.#until.size >= MAX_TEXTS) this.#until.clear();
    this.#until.set(text, performance.now() + HELD_MS);
  }

  /** It did not wait. */
  remove(text: string): void {
    if (this.#until.size > 0) this.#until.delete(text);
  }
}
