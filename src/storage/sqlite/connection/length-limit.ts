import type { DatabaseSync } from 'node:sqlite';

/** Bytes that a value may have. The limit is the connection's, and setting it costs more than many a statement: it stays until another one is needed. */
export class LengthLimit {
  /** Where a statement has no bound of its own. */
  readonly #usual: number;
  /** Of the statement that ran last. */
  #last: number;

  constructor(db: DatabaseSync) {
    this.#usual = this.#last = db.limits.length;
  }

  set(db: DatabaseSync, bytes = this.#usual): void {
    if (bytes === this.#last) return;
    db.limits.length = bytes;
    this.#last = bytes;
  }

  /** The connection was opened anew. */
  reset(): void {
    this.#last = this.#usual;
  }
}
