import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { ServiceError, serviceError } from '../../../errors/fail.ts';
import { unavailableSince } from '../../../errors/system-faults.ts';
import type { Statement } from '../../sql/writer.ts';
import { isBusy, type StoreFault, sorting, storeFaultOf } from './map-error.ts';
import { closeQuietly, existingFile, openDatabase } from './open-database.ts';
import {
  BoundedRows,
  constraintsTaken,
  LengthLimit,
  type LimitedRows,
  prepare,
  type Row,
  type Rows,
  readWalLength,
  rowSteps,
  StatementCache,
  type WalLength,
  walLengthQuery,
} from './statements.ts';

/** Milliseconds that a connection waits for the lock of another one, as long as nobody minds: a thread, a file that is opened. */
const PATIENT_MS = 5_000;
/** On the event loop, which serves others meanwhile: the time in which the log's index is made anew. */
const IMPATIENT_MS = 2;
/** What takes a statement with triggers back goes into a file else, which costs more than the triggers do. Sorts of large tables have threads. */
const JOURNALS_IN_MEMORY = 'PRAGMA temp_store = MEMORY';

/** Told of what a connection meets. */
export interface ConnectionEvents {
  /** A fault that can pass. */
  met(fault: StoreFault, error: unknown): void;
  /** It is of no more use and outside of transactions: what can be done (`reopen`), or not yet, before the next statement. @throws unavailable */
  mend(): void;
}

/** What a connection is opened for. */
export interface ConnectionOptions {
  /** Asked now and then by interruptible statements; may throw to end the statement. */
  readonly tick?: () => void;
  readonly events?: ConnectionEvents;
}

/** One SQLite connection with its prepared statements. Rows come as arrays. Faults that can pass leave it as `unavailable`. */
export class Connection implements LimitedRows {
  readonly #path: string;
  readonly #mode: 'write' | 'read';
  readonly #tick: (() => void) | undefined;
  readonly #events: ConnectionEvents | undefined;
  #db: DatabaseSync;
  #isBroken = false;
  #isOpen = true;
  readonly #length: LengthLimit;
  #pages: number;
  readonly #plans = new StatementCache(constraintsTaken);
  readonly #statements = new StatementCache(prepare);

  /**
   * Opens a file; where it writes, making it where there is none. It waits for others' locks.
   * @param mode `write` for the one connection that writes, `read` for reader threads
   * @throws unavailable for faults that can pass
   */
  constructor(path: string, mode: 'write' | 'read', { tick, events }: ConnectionOptions = {}) {
    this.#path = path;
    this.#mode = mode;
    this.#tick = tick;
    this.#events = events;
    this.#pages = mode === 'write' ? 16_000 : 4_000;
    this.#db = sorting(() => this.#open(path, PATIENT_MS));
    this.#length = new LengthLimit(this.#db);
    if (mode !== 'write') return;
    try {
      this.useLog();
    } catch (error) {
      this.drop();
      throw error;
    }
  }

  #open(file: string | URL, timeoutMs: number): DatabaseSync {
    const tick = this.#tick;
    return openDatabase(file, { mode: this.#mode, timeoutMs, pagesKiB: this.#pages, ...(tick ? { tick } : {}) });
  }

  /** Has changes go into a log first (WAL), which stays so: what is opened anew may be another's file, which is not to be changed. */
  useLog(): void {
    this.ask((db) => db.exec('PRAGMA journal_mode = WAL'));
  }

  /** The file that it was opened for. */
  get path(): string {
    return this.#path;
  }

  /** Whether it met a fault after which it is to be opened anew. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** The database itself, for statements that are not kept: their faults leave it as SQLite tells them. */
  get db(): DatabaseSync {
    this.#length.set(this.#db);
    return this.#db;
  }

  get isTransaction(): boolean {
    return this.#isOpen && this.#db.isTransaction;
  }

  /** From now on it waits for no lock of others: work on the event loop tries again later. */
  waitForNobody(): void {
    sorting(() => this.#db.exec(`PRAGMA busy_timeout = ${IMPATIENT_MS}; ${JOURNALS_IN_MEMORY}`));
  }

  /** Whether sorts that memory is not to hold go into files, as those of indexes of large tables do. To be said outside of transactions. */
  sortInFiles(is: boolean): void {
    this.ask((db) => db.exec(is ? 'PRAGMA temp_store = FILE' : JOURNALS_IN_MEMORY));
  }

  /** Opens the file anew, which has to be there; statements that are under way end. @throws unavailable, and it is closed then */
  reopen(): void {
    this.drop();
    try {
      this.#db = this.#open(existingFile(this.#path), IMPATIENT_MS);
      this.#db.exec(JOURNALS_IN_MEMORY);
    } catch (error) {
      throw this.sorted(error);
    }
    this.#length.reset();
    this.#isOpen = true;
    this.#isBroken = false;
  }

  /** Closes it until it is opened anew, whatever that meets. */
  drop(): void {
    this.#isBroken = true;
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#statements.clear();
    this.#plans.clear();
    closeQuietly(this.#db);
  }

  /** Something outside found that it is to be opened anew before it is used again. */
  break(): void {
    this.#isBroken = true;
  }

  /** An error as it leaves the engine; its fault, where it was met here first, is told of. */
  sorted(error: unknown): unknown {
    const fault = error instanceof ServiceError ? null : storeFaultOf(error);
    if (!fault) return error;
    if (fault.isBroken) this.#isBroken = true;
    try {
      this.#events?.met(fault, error);
    } catch {
      // Telling of it may fail as it did.
    }
    return unavailableSince(error);
  }

  #mend(): void {
    if (this.isTransaction) return;
    if (this.#events) this.#events.mend();
    else if (!this.#isOpen) throw serviceError('unavailable');
  }

  /** Begins a transaction that writes. @returns false where another connection does */
  begin(): boolean {
    if (this.#isBroken) this.#mend();
    try {
      this.#prepared('BEGIN IMMEDIATE').run();
      return true;
    } catch (error) {
      if (isBusy(error)) return false;
      throw this.sorted(error);
    }
  }

  /** Undoes what is open, if anything is; never throws. */
  rollback(): void {
    try {
      if (this.isTransaction) this.#db.exec('ROLLBACK');
    } catch (error) {
      // What cannot be undone goes with the connection.
      this.sorted(error);
      this.#isBroken = true;
    }
  }

  /** How long the log is; `null` where that cannot be told now. Costs a microsecond. Never throws. */
  logLength(): WalLength | null {
    try {
      return readWalLength(this.#prepared(walLengthQuery));
    } catch {
      return null;
    }
  }

  /** Runs a statement without values, such as one that begins or ends a transaction. */
  execute(text: string): void {
    this.run({ text, params: [] });
  }

  /** Runs a statement that returns nothing. */
  run({ text, params }: Statement): void {
    if (this.#isBroken) this.#mend();
    try {
      const statement = this.#prepared(text);
      this.#length.set(this.#db);
      statement.run(...(params as SQLInputValue[]));
    } catch (error) {
      throw this.sorted(error);
    }
  }

  /** @param longest bytes that a value may have, also of those that SQLite sorts */
  first({ text, params }: Statement, longest?: number): Row | undefined {
    if (this.#isBroken) this.#mend();
    try {
      const statement = this.#prepared(text);
      this.#length.set(this.#db, longest);
      return statement.get(...(params as SQLInputValue[])) as unknown as Row | undefined;
    } catch (error) {
      throw this.sorted(error);
    }
  }

  /** @param longest as of `first` */
  all({ text, params }: Statement, longest?: number): Row[] {
    if (this.#isBroken) this.#mend();
    try {
      const statement = this.#prepared(text);
      this.#length.set(this.#db, longest);
      return statement.all(...(params as SQLInputValue[])) as unknown as Row[];
    } catch (error) {
      throw this.sorted(error);
    }
  }

  /** @param longest as of `first` */
  each({ text, params }: Statement, longest?: number): IterableIterator<Row> {
    const rows = this.ask((db) => prepare(db, text).iterate(...(params as SQLInputValue[])) as unknown as IterableIterator<Row>);
    return rowSteps(
      rows,
      () => this.#length.set(this.#db, longest),
      (error) => this.sorted(error),
    );
  }

  /** Runs work that uses the database itself. @throws unavailable for faults that can pass */
  ask<T>(work: (db: DatabaseSync) => T): T {
    if (this.#isBroken) this.#mend();
    try {
      return work(this.db);
    } catch (error) {
      throw this.sorted(error);
    }
  }

  /**
   * Reads that end where they meet a value, or sort a row, of more bytes: SQLite looks at lengths before it reads on.
   * @returns its methods throw NotShort then
   */
  shorterThan(bytes: number): Rows {
    return new BoundedRows(this, bytes);
  }

  #prepared(text: string): StatementSync {
    return this.#statements.get(text) ?? this.#statements.add(this.db, text);
  }

  /** How many comparisons an index answers for a statement (statements.ts). Remembered, since SQLite is asked for its plan. */
  constraintsTaken(text: string): number {
    return this.#plans.get(text) ?? this.ask((db) => this.#plans.add(db, text));
  }

  /** @param size KiB of the file's pages that are kept in memory at the most */
  keepPages(size: number): void {
    this.#pages = size;
    this.ask((db) => db.exec(`PRAGMA cache_size = -${size}`));
  }

  /** Plans no longer hold after indexes changed. */
  forgetPlans(): void {
    this.#plans.clear();
  }

  close(): void {
    this.drop();
  }
}
