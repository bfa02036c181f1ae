import { DatabaseSync } from 'node:sqlite';
import { unavailableSince } from '../../../errors/system-faults.ts';
import type { Conditions } from '../../../observe/index.ts';
import { type StoreFault, storeFaultOf } from '../connection/map-error.ts';
import { existingFile } from '../connection/open-database.ts';

/** Minimum interval between two attempts to open the file. */
const REOPEN_INTERVAL_MS = 250;

/** Settings of a connection to a registry. */
export interface RegistryConnectionSettings {
  /** Time to wait for the lock of another process. */
  readonly timeout: number;
  readonly isReader?: true;
  readonly conditions?: Pick<Conditions, 'met' | 'over'> | undefined;
  /** Checks that an opened file is the registry that was there at the start. @throws if it is not */
  readonly verify: (db: DatabaseSync) => void;
}

/** A connection to a registry's file that is reopened after faults that make it unusable. */
export class RegistryConnection {
  readonly #path: string;
  readonly #settings: RegistryConnectionSettings;
  readonly #about: { readonly store: string };
  #db: DatabaseSync | undefined;
  #openedAt = Number.NEGATIVE_INFINITY;
  /** The last fault since it last worked. */
  #lastFault: unknown;
  #isClosed = false;

  /** @throws SQLite's error */
  constructor(path: string, settings: RegistryConnectionSettings) {
    this.#path = path;
    this.#settings = settings;
    this.#about = { store: path };
    this.#db = this.#opened();
  }

  #opened(): DatabaseSync {
    const { timeout, isReader = false, verify } = this.#settings;
    // A read-only connection does not create the file.
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

  /** The database, reopened if necessary. @throws unavailable, SQLite's error */
  get db(): DatabaseSync {
    if (this.#db) return this.#db;
    const now = performance.now();
    if (this.#isClosed || now - this.#openedAt < REOPEN_INTERVAL_MS) throw unavailableSince(this.#lastFault);
    this.#openedAt = now;
    this.#db = this.#opened();
    return this.#db;
  }

  /** Runs work on the database. @throws SQLite's error; a transient one is also reported */
  use<T>(work: (db: DatabaseSync) => T): T {
    try {
      const result = work(this.db);
      if (this.#lastFault !== undefined) this.#recovered();
      return result;
    } catch (error) {
      this.failed(error);
      throw error;
    }
  }

  /** Handles an error of work on the database. */
  failed(error: unknown): void {
    const fault = storeFaultOf(error);
    if (!fault || fault.kind === 'the store is busy') return;
    this.#report(fault, error);
    if (fault.isBroken) this.#drop();
  }

  #report({ kind }: StoreFault, error: unknown): void {
    this.#lastFault = error;
    // Some read errors look like damage.
    this.#settings.conditions?.met(kind === 'the store is damaged' ? 'a page cannot be read' : kind, this.#about, error);
  }

  #recovered(): void {
    this.#lastFault = undefined;
    this.#settings.conditions?.over(this.#about);
  }

  #drop(): void {
    try {
      this.#db?.close();
    } catch {
      // The connection is dropped in any case.
    }
    this.#db = undefined;
  }

  close(): void {
    this.#isClosed = true;
    this.#drop();
  }
}
