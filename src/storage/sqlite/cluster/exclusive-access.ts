import { DatabaseSync } from 'node:sqlite';
import { OperatorError } from '../../../kernel/operator-error.ts';

/** How long to wait for a process that only looks whether the lock is held, in milliseconds. */
const LOOK_MS = 500;

/**
 * Holds a directory's lock for this process, so that no second service keeps a schema of the same files in memory. The operating system
 * frees it when the process ends, however it ends.
 */
export class ProcessLock {
  /** Paths of those that this process holds. */
  static readonly #own = new Set<string>();
  readonly #path: string;
  readonly #db: DatabaseSync;

  private constructor(path: string, db: DatabaseSync) {
    this.#path = path;
    this.#db = db;
    ProcessLock.#own.add(path);
  }

  /** @throws OperatorError where another process holds it */
  static take(path: string): ProcessLock {
    const lock = ProcessLock.#try(path, LOOK_MS);
    if (lock) return lock;
    throw new OperatorError(`another process serves this data directory (it holds ${path})`);
  }

  /** @returns `null` where another process holds it */
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

  /** Whether some process holds the lock now. Where that cannot be told, it may be so. */
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

  /** The same of another process. */
  static isHeldElsewhere(path: string): boolean {
    return !ProcessLock.#own.has(path) && ProcessLock.isHeld(path);
  }

  release(): void {
    ProcessLock.#own.delete(this.#path);
    this.#db.close();
  }
}
