import { DatabaseSync } from 'node:sqlite';
import { OperatorError } from '../../../kernel/operator-error.ts';

/** How long to wait for a process that only checks whether the lock is held. */
const CHECK_WAIT_MS = 500;

/**
 * Holds a directory's lock for this process, so that no second service caches the schema of the same files. The operating system releases it however
 * the process ends.
 */
export class ProcessLock {
  /** Paths of the locks that this process holds. */
  static readonly #own = new Set<string>();
  readonly #path: string;
  readonly #db: DatabaseSync;

  private constructor(path: string, db: DatabaseSync) {
    this.#path = path;
    this.#db = db;
    ProcessLock.#own.add(path);
  }

  /** @throws OperatorError if another process holds it */
  static take(path: string): ProcessLock {
    const lock = ProcessLock.#try(path, CHECK_WAIT_MS);
    if (lock) return lock;
    throw new OperatorError(`another process serves this data directory (it holds ${path})`);
  }

  /** @returns `null` if another process holds it */
  static tryTake(path: string): ProcessLock | null {
    return ProcessLock.#try(path, 0);
  }

  static #try(path: string, timeout: number): ProcessLock | null {
    const db = new DatabaseSync(path, { timeout });
    try {
      db.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
      return new ProcessLock(path, db);
    } catch {
      db.close();
      return null;
    }
  }

  /** Returns whether a process holds the lock now; true if that cannot be determined. */
  static isHeld(path: string): boolean {
    let db: DatabaseSync | undefined;
    try {
      db = new DatabaseSync(path);
      db.prepare('SELECT 1 FROM sqlite_schema').get();
      return false;
    } catch {
      return true;
    } finally {
      db?.close();
    }
  }

  /** Returns whether another process holds the lock. */
  static isHeldElsewhere(path: string): boolean {
    return !ProcessLock.#own.has(path) && ProcessLock.isHeld(path);
  }

  release(): void {
    ProcessLock.#own.delete(this.#path);
    this.#db.close();
  }
}
