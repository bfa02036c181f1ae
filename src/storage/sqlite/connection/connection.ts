import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { ServiceError, serviceError } from '../../../errors/fail.ts';
import { unavailableSince } from '../../../errors/system-faults.ts';
import type { Statement } from '../../sql/sql-writer.ts';
import type { FunctionOptions } from '../sql/functions.ts';
import { type ConnectionEvents, isBusy, storeFaultOf, withMappedErrors } from './map-error.ts';
import { closeQuietly, existingFile, openDatabase } from './open-database.ts';
import { SharedSnapshot } from './shared-snapshot.ts';
import {
  BoundedRows,
  constraintsTaken,
  LengthLimit,
  type PlannedRows,
  prepare,
  type Row,
  type Rows,
  readWalLength,
  rowSteps,
  StatementCache,
  type WalLength,
  walLengthQuery,
} from './statements.ts';

/** Lock timeout where nothing else is blocked: on a thread, or while a file is opened. */
const LOCK_WAIT_MS = 5_000;
/** Lock timeout on the event loop: long enough for another process to rebuild the WAL index. */
const EVENT_LOOP_LOCK_WAIT_MS = 2;
/** Otherwise the rollback journal of a statement with triggers goes to a file, which costs more than the triggers. Large sorts use threads. */
const TEMP_STORE_IN_MEMORY = 'PRAGMA temp_store = MEMORY';

export interface ConnectionOptions extends FunctionOptions {
  readonly events?: ConnectionEvents;
}

/** One SQLite connection with its prepared statements. Rows are arrays. Transient faults are thrown as `unavailable`. */
export class Connection implements PlannedRows {
  readonly #path: string;
  readonly #mode: 'write' | 'read';
  readonly #functions: FunctionOptions;
  readonly #events: ConnectionEvents | undefined;
  #db: DatabaseSync;
  #isBroken = false;
  #isOpen = true;
  /** How often the file was opened: settings of SQLite apply to one opening. */
  openings = 1;
  readonly #length: LengthLimit;
  readonly #shared = new SharedSnapshot();
  #pages: number;
  readonly #plans = new StatementCache(constraintsTaken);
  readonly #statements = new StatementCache(prepare);

  /**
   * Opens a file; in mode `write` it is created if there is none. Waits for the locks of others.
   * @param mode `write` for the single connection that writes, `read` for reader threads
   * @throws unavailable for transient faults
   */
  constructor(path: string, mode: 'write' | 'read', { events, ...functions }: ConnectionOptions = {}) {
    this.#path = path;
    this.#mode = mode;
    this.#functions = functions;
    this.#events = events;
    this.#pages = mode === 'write' ? 16_000 : 4_000;
    this.#db = withMappedErrors(() => this.#open(path, LOCK_WAIT_MS));
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
    return openDatabase(file, { mode: this.#mode, timeoutMs, pagesKiB: this.#pages, ...this.#functions });
  }

  /** Switches the file to WAL mode permanently. Verify a reopened file first: another system's file must not be changed. */
  useLog(): void {
    this.use((db) => db.exec('PRAGMA journal_mode = WAL'));
  }

  get path(): string {
    return this.#path;
  }

  /** Whether a fault requires reopening the connection. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** The database, for statements that are not cached: their errors are not mapped. */
  get db(): DatabaseSync {
    this.#shared.end();
    this.#length.set(this.#db);
    return this.#db;
  }

  /** Whether a transaction is open, other than that of short reads. */
  get isTransaction(): boolean {
    return this.#isOpen && !this.#shared.isOpen && this.#db.isTransaction;
  }

  /** Disables waiting for locks of others from now on: work on the event loop tries again later. */
  disableLockWait(): void {
    withMappedErrors(() => this.#db.exec(`PRAGMA busy_timeout = ${EVENT_LOOP_LOCK_WAIT_MS}; ${TEMP_STORE_IN_MEMORY}`));
  }

  /** Lets large sorts go to files instead of memory, for indexes of large tables. Call outside transactions. */
  sortInFiles(): void {
    this.use((db) => db.exec('PRAGMA temp_store = FILE'));
  }

  /** Reopens the file, which must exist; running statements end. @throws unavailable; then the connection stays closed */
  reopen(): void {
    this.drop();
    try {
      this.#db = this.#open(existingFile(this.#path), EVENT_LOOP_LOCK_WAIT_MS);
      this.#db.exec(TEMP_STORE_IN_MEMORY);
    } catch (error) {
      throw this.mapError(error);
    }
    this.#length.reset();
    this.#isOpen = true;
    this.#isBroken = false;
    this.openings++;
  }

  /** Closes the connection until it is reopened. Never throws. */
  drop(): void {
    this.#isBroken = true;
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#shared.drop();
    this.#statements.clear();
    this.#plans.clear();
    closeQuietly(this.#db);
  }

  /** Marks the connection as unusable until it is reopened, after a fault that was found outside. */
  markBroken(): void {
    this.#isBroken = true;
  }

  /** Maps an error to the form in which it leaves the engine, and reports a transient fault when it is first seen. */
  mapError(error: unknown): unknown {
    const fault = error instanceof ServiceError ? null : storeFaultOf(error);
    if (!fault) return error;
    if (fault.isBroken) this.#isBroken = true;
    try {
      this.#events?.met(fault, error);
    } catch {
      // The report may fail for the same reason.
    }
    return unavailableSince(error);
  }

  #mend(): void {
    if (this.isTransaction) return;
    if (this.#events) this.#events.mend();
    else if (!this.#isOpen) throw serviceError('unavailable');
  }

  /** Begins a write transaction. @returns false if another connection is writing */
  begin(): boolean {
    if (this.#isBroken) this.#mend();
    try {
      this.#prepared('BEGIN IMMEDIATE').run();
      return true;
    } catch (error) {
      if (isBusy(error)) return false;
      throw this.mapError(error);
    }
  }

  /** Rolls back an open transaction, if there is one. Never throws. */
  rollback(): void {
    try {
      if (this.isTransaction) this.#db.exec('ROLLBACK');
    } catch (error) {
      // A transaction that cannot be rolled back ends with the connection.
      this.mapError(error);
      this.#isBroken = true;
    }
  }

  /** Returns the length of the WAL; `null` if it is not known now. Costs a microsecond. Never throws. */
  logLength(): WalLength | null {
    try {
      return readWalLength(this.#prepared(walLengthQuery));
    } catch {
      return null;
    }
  }

  /** Runs a statement without parameters, such as one that begins or ends a transaction. */
  execute(text: string): void {
    this.run({ text, params: [] });
  }

  /** Runs a statement that returns no rows. @returns how many rows it has changed */
  run({ text, params }: Statement): number {
    if (this.#isBroken) this.#mend();
    try {
      const statement = this.#prepared(text);
      this.#length.set(this.#db);
      return Number(statement.run(...(params as SQLInputValue[])).changes);
    } catch (error) {
      throw this.mapError(error);
    }
  }

  /** @param maxValueBytes of a value or of a row that SQLite sorts; set for short reads, which share a snapshot */
  first({ text, params }: Statement, maxValueBytes?: number): Row | undefined {
    if (this.#isBroken) this.#mend();
    try {
      const statement = this.#prepared(text, maxValueBytes !== undefined);
      this.#length.set(this.#db, maxValueBytes);
      return statement.get(...(params as SQLInputValue[])) as unknown as Row | undefined;
    } catch (error) {
      throw this.mapError(error);
    }
  }

  /** @param maxValueBytes see `first` */
  all({ text, params }: Statement, maxValueBytes?: number): Row[] {
    if (this.#isBroken) this.#mend();
    try {
      const statement = this.#prepared(text, maxValueBytes !== undefined);
      this.#length.set(this.#db, maxValueBytes);
      return statement.all(...(params as SQLInputValue[])) as unknown as Row[];
    } catch (error) {
      throw this.mapError(error);
    }
  }

  /** @param maxValueBytes see `first` */
  each({ text, params }: Statement, maxValueBytes?: number): IterableIterator<Row> {
    const rows = this.use((db) => prepare(db, text).iterate(...(params as SQLInputValue[])) as unknown as IterableIterator<Row>);
    return rowSteps(
      rows,
      () => this.#length.set(this.#db, maxValueBytes),
      (error) => this.mapError(error),
    );
  }

  /** Runs work that uses the database directly. @throws unavailable for transient faults */
  use<T>(work: (db: DatabaseSync) => T): T {
    if (this.#isBroken) this.#mend();
    try {
      return work(this.db);
    } catch (error) {
      throw this.mapError(error);
    }
  }

  /**
   * Returns reads that stop at a value, or a row to sort, of more bytes: SQLite checks lengths before it reads on.
   * @returns its methods throw TooLong in that case
   */
  shorterThan(bytes: number): Rows {
    return new BoundedRows(this, bytes);
  }

  #prepared(text: string, isShortRead = false): StatementSync {
    const statement = this.#statements.get(text) ?? this.#statements.add(this.db, text);
    if (isShortRead) this.#shared.begin(this.#db);
    else this.#shared.end();
    return statement;
  }

  /** Returns how many comparisons of a statement an index answers (statements.ts). Cached, since it takes a query for SQLite's plan. */
  constraintsTaken(text: string): number {
    return this.#plans.get(text) ?? this.use((db) => this.#plans.add(db, text));
  }

  /** @param size KiB of the page cache */
  setCachePages(size: number): void {
    this.#pages = size;
    this.use((db) => db.exec(`PRAGMA cache_size = -${size}`));
  }

  /** Invalidates cached plans after a change of indexes. */
  forgetPlans(): void {
    this.#plans.clear();
  }

  close(): void {
    this.drop();
  }
}
