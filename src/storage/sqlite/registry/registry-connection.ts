import { DatabaseSync } from 'node:sqlite';
import { unavailableSince } from '../../../errors/system-faults.ts';
import type { Conditions } from '../../../observe/index.ts';
import { type StoreFault, storeFaultOf } from '../connection/map-error.ts';
import { existingFile } from '../connection/open-database.ts';

/** Milliseconds between two openings. */
const REOPEN_MS = 250;

/** What a connection to a registry is for. */
export interface RegistryConnectionSettings {
  /** Milliseconds that it waits for the lock of another process. */
  readonly timeout: number;
  readonly isReader?: true;
  readonly conditions?: Pick<Conditions, 'met' | 'over'> | undefined;
  /** Whether an opened file is the registry that was there at the start. @throws where it is not */
  readonly verify: (db: DatabaseSync) => void;
}

/** A connection to a registry's file, opened anew after faults that leave it of no more use. */
export class RegistryConnection {
  readonly #path: string;
  readonly #settings: RegistryConnectionSettings;
  readonly #about: { readonly store: string };
  #db: DatabaseSync | undefined;
  #openedAt = Number.NEGATIVE_INFINITY;
  /** What it met since it was last of use. */
  #met: unknown;
  #isClosed = false;

  /** @throws what SQLite says */
  constructor(path: string, settings: RegistryConnectionSettings) {
    this.#path = path;
    this.#settings = settings;
    this.#about = { store: path };
    this.#db = this.#opened();
  }

  #opened(): DatabaseSync {
    const { timeout, isReader = false, verify } = this.#settings;
    // One that reads alone makes no file.
    const file = isReader ? this.#path : existingFile(this.#path);
    const db = new DatabaseSync(file, { timeout, readOnly: isReader, enableForeignKeyConstraints: true });
    try {
      if (!isReader) db.exec('PRAGMA synchronous = FULL');
      verify(db);
      return db;
    } catch (error) {
      db.close();
      throw error;
    }
  }

  /** The database, opened anew where that is due. @throws unavailable, what SQLite says */
  get db(): DatabaseSync {
    if (this.#db) return this.#db;
    const now = performance.now();
    if (this.#isClosed || now - this.#openedAt < REOPEN_MS) throw unavailableSince(this.#met);
    this.#openedAt = now;
    this.#db = this.#opened();
    return this.#db;
  }

  /** Does some work. @throws what SQLite says, which the log is told of where it can pass */
  use<T>(work: (db: DatabaseSync) => T): T {
    try {
      const result = work(this.db);
      if (this.#met !== undefined) this.#back();
      return result;
    } catch (error) {
      this.failed(error);
      throw error;
    }
  }

  /** Something failed on it. */
  failed(error: unknown): void {
    const fault = storeFaultOf(error);
    if (!fault || fault.kind === 'the store is busy') return;
    this.#told(fault, error);
    if (fault.isBroken) this.#drop();
  }

  #told({ kind }: StoreFault, error: unknown): void {
    this.#met = error;
    // Some reads that fail look like damage.
    this.#settings.conditions?.met(kind === 'the store is damaged' ? 'a page cannot be read' : kind, this.#about, error);
  }

  #back(): void {
    this.#met = undefined;
    this.#settings.conditions?.over(this.#about);
  }

  #drop(): void {
    try {
      this.#db?.close();
    } catch {
      // What was open is given up all the same.
    }
    this.#db = undefined;
  }

  close(): void {
    this.#isClosed = true;
    this.#drop();
  }
}
