import { DatabaseSync } from 'node:sqlite';
import { OperatorError } from '../../kernel/operator-error.ts';

/**
 * Holds a directory's lock for this process, so that no second service keeps a schema of the same files in memory. The operating system
 * frees it when the process ends, however it ends.
 */
export class ProcessLock {
  readonly #db: DatabaseSync;

  /** @throws OperatorError where another process holds it */
  constructor(path: string) {
    this.#db = new DatabaseSync(path);
    try {
      this.#db.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    } catch {
      this.#db.close();
      throw new OperatorError(`another process serves this data directory (it holds ${path})`);
    }
  }

  release(): void {
    this.#db.close();
  }
}
