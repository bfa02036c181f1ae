import { DatabaseSync } from 'node:sqlite';

/**
 * Holds a directory's lock for this process, so that no second service keeps a schema of the same files in memory. The operating system
 * frees it when the process ends, however it ends.
 */
export class ProcessLock {
  readonly #db: DatabaseSync;

  /** @throws Error where another process holds it */
  constructor(path: string) {
    this.#db = new DatabaseSync(path);
    try {
      this.#db.exec('BEGIN EXCLUSIVE');
    } catch {
      this.#db.close();
      throw new Error(`another process holds ${path}`);
    }
  }

  release(): void {
    this.#db.close();
  }
}
