import type { DatabaseSync, StatementSync } from 'node:sqlite';

interface Statements {
  readonly db: DatabaseSync;
  readonly begin: StatementSync;
  readonly commit: StatementSync;
}

/**
 * The transaction that the short reads of one turn of the event loop share: a read with a snapshot of its own locks and unlocks the WAL's index,
 * which takes as long as reading a record. Its owner ends it before anything else uses the database, so that a read sees every commit that was
 * acknowledged before its request was sent (docs/adr/0005).
 */
export class SharedSnapshot {
  #statements: Statements | undefined;
  #isOpen = false;

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Begins it, unless a transaction is open. It ends with the turn. */
  begin(db: DatabaseSync): void {
    if (this.#isOpen || db.isTransaction) return;
    if (this.#statements?.db !== db) this.#statements = { db, begin: db.prepare('BEGIN'), commit: db.prepare('COMMIT') };
    this.#statements.begin.run();
    this.#isOpen = true;
    setImmediate(() => this.end());
  }

  /** Never throws. */
  end(): void {
    if (!this.#isOpen || !this.#statements) return;
    this.#isOpen = false;
    try {
      this.#statements.commit.run();
    } catch {
      try {
        this.#statements.db.exec('ROLLBACK');
      } catch {
        // The next statement meets the same fault.
      }
    }
  }

  /** Call before the database is closed. */
  drop(): void {
    this.end();
    this.#statements = undefined;
  }
}
