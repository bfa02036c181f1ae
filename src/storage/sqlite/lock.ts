import { DatabaseSync } from 'node:sqlite';
import { OperatorError } from '../../kernel/operator-error.ts';

/** How long to wait for one who only looks whether the lock is held, in milliseconds. */
const LOOK = 500;

/**
 * Holds a directory's lock for this process, so that no second service keeps a schema of the same files in memory. The operating system
 * frees it when the process ends, however it ends.
 */
export class ProcessLock {
  readonly #db: DatabaseSync;

  /** @throws OperatorError where another process holds it */
  constructor(path: string) {
    this.#db = new DatabaseSync(path, { timeout: LOOK });
    try {
      this.#db.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    } catch {
      this.#db.close();
      throw new OperatorError(`another process serves this data directory (it holds ${path})`);
    }
  }

  /** Whether some process holds the lock now. */
  static isHeld(path: string): boolean {
    const db = new DatabaseSync(path);
    try {
      db.prepare('SELECT 1 FROM sqlite_schema').get();
      return false;
    } catch {
      return true;
    } finally {
      db.close();
    }
  }

  release(): void {
    this.#db.close();
  }
}
