/** Milliseconds for which a read that waited for a lock is kept off shared connections. */
const BLOCKED_FOR_MS = 1_000;
/** Maximum number of texts kept. */
const MAX_TEXTS = 500;

/**
 * Texts of reads that recently waited for a lock. Such a read blocks all statements behind it on a shared connection, so while its table is locked,
 * it runs on a separate one. Once a second one of them tests on a shared connection whether the lock is still held.
 */
export class BlockedReads {
  readonly #until = new Map<string, number>();

  /** Whether a read should use a separate connection. */
  has(text: string): boolean {
    if (this.#until.size === 0) return false;
    const until = this.#until.get(text);
    if (until === undefined) return false;
    const now = performance.now();
    if (now < until) return true;
    this.#until.set(text, now + BLOCKED_FOR_MS);
    return false;
  }

  /** Records that the read waited for a lock. */
  add(text: string): void {
    if (this.#until.size >= MAX_TEXTS) this.#until.clear();
    this.#until.set(text, performance.now() + BLOCKED_FOR_MS);
  }

  /** Records that the read did not wait. */
  remove(text: string): void {
    if (this.#until.size > 0) this.#until.delete(text);
  }
}
