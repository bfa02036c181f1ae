import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { LRUCache } from 'lru-cache';
import { fail, ServiceError, serviceError } from '../../errors/fail.ts';
import { unavailableSince } from '../../errors/system-faults.ts';
import { NotShort, type Row } from '../sql/reads/allowance.ts';
import type { Statement } from '../sql/writer.ts';
import { existingFile } from './existing.ts';
import { isBusy, SQLITE_TOOBIG, type StoreFault, sorting, storeFaultOf } from './faults.ts';
import { registerFunctions } from './sql/functions.ts';

export type { Row };

/** What reads the rows of statements. */
export interface Rows {
  /** The first row. */
  first(statement: Statement): Row | undefined;
  /** All rows. */
  all(statement: Statement): Row[];
  /**
   * Rows one by one, from a statement of their own: other work may come in between.
   * @param longest bytes that a value may have, where it is less than usual
   */
  each(statement: Statement, longest?: number): IterableIterator<Row>;
}

/** Milliseconds that a connection waits for the lock of another one, as long as nobody minds: a thread, a file that is opened. */
const PATIENT_MS = 5_000;
/** On the event loop, which serves others meanwhile: the time in which the log's index is made anew. */
const IMPATIENT_MS = 2;
/** Bytes that the file of the log keeps once it has begun anew. */
const LOG_KEPT = 32 * 1024 * 1024;
/** Bytes of a value that a read may build: an aggregation could put whole tables into one. Stored ones come from bodies, which are smaller. */
export const LARGEST_VALUE = 64 * 1024 * 1024;
/** Statements that are used again, up to so many characters of text: a prepared one takes some ten times its text. */
const kept = { max: 500, maxSize: 2_000_000, sizeCalculation: (_: unknown, text: string) => text.length };
/** What SQLite says of statements beyond its limits (https://sqlite.org/limits.html). */
const tooLarge = /^(?:Expression tree is too large|too many SQL variables|parser stack overflow)/;

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

/** A log of changes (WAL), in pages: how long it is, and what of it has been copied into the file. */
export interface LogLength {
  readonly pages: number;
  readonly copied: number;
}

/** One SQLite connection with its prepared statements. Rows come as arrays. Faults that can pass leave it as `unavailable`. */
export class Connection implements Rows {
  readonly #path: string;
  readonly #mode: 'write' | 'read';
  readonly #tick: (() => void) | undefined;
  readonly #events: ConnectionEvents | undefined;
  #db: DatabaseSync;
  #isBroken = false;
  #isOpen = true;
  /** Bytes that a value may have where a statement has no bound of its own. */
  readonly #usualLength: number;
  /** The same of the statement that ran last. */
  #length: number;
  #pages: number;
  readonly #plans = new LRUCache<string, number>(kept);
  readonly #statements = new LRUCache<string, StatementSync>(kept);

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
    this.#db = sorting(() => this.#opened(path, PATIENT_MS));
    this.#usualLength = this.#length = this.#db.limits.length;
    if (mode !== 'write') return;
    try {
      this.useLog();
    } catch (error) {
      this.drop();
      throw error;
    }
  }

  #opened(file: string | URL, timeout: number): DatabaseSync {
    const isReader = this.#mode === 'read';
    const db = new DatabaseSync(file, {
      readOnly: isReader,
      timeout,
      enableForeignKeyConstraints: false,
      ...(isReader ? { limits: { length: LARGEST_VALUE } } : {}),
    });
    try {
      // FULL: an acknowledged write survives a power cut; group commit pays for it. Threads empty the log (checkpoints.ts).
      if (!isReader) db.exec(`PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = ${LOG_KEPT}`);
      db.exec(`PRAGMA cache_size = -${this.#pages}`);
      registerFunctions(db, this.#tick ? { tick: this.#tick } : {});
      return db;
    } catch (error) {
      closeQuietly(db);
      throw error;
    }
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
    this.#limitLength(this.#usualLength);
    return this.#db;
  }

  get isTransaction(): boolean {
    return this.#isOpen && this.#db.isTransaction;
  }

  /** From now on it waits for nobody's lock: who runs on the event loop tries again later. */
  waitForNobody(): void {
    sorting(() => this.#db.exec(`PRAGMA busy_timeout = ${IMPATIENT_MS}`));
  }

  /** Opens the file anew, which has to be there; statements that are under way end. @throws unavailable, and it is closed then */
  reopen(): void {
    this.drop();
    try {
      this.#db = this.#opened(existingFile(this.#path), IMPATIENT_MS);
    } catch (error) {
      throw this.sorted(error);
    }
    this.#length = this.#usualLength;
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
  logLength(): LogLength | null {
    try {
      const [, pages, copied] = this.#prepared('PRAGMA wal_checkpoint(NOOP)').get() as unknown as [number, number, number];
      return { pages, copied };
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
      this.#limitLength(this.#usualLength);
      statement.run(...(params as SQLInputValue[]));
    } catch (error) {
      throw this.sorted(error);
    }
  }

  /** @param longest bytes that a value may have, also of those that SQLite sorts */
  first({ text, params }: Statement, longest = this.#usualLength): Row | undefined {
    if (this.#isBroken) this.#mend();
    try {
      const statement = this.#prepared(text);
      this.#limitLength(longest);
      return statement.get(...(params as SQLInputValue[])) as unknown as Row | undefined;
    } catch (error) {
      throw this.sorted(error);
    }
  }

  /** @param longest as of `first` */
  all({ text, params }: Statement, longest = this.#usualLength): Row[] {
    if (this.#isBroken) this.#mend();
    try {
      const statement = this.#prepared(text);
      this.#limitLength(longest);
      return statement.all(...(params as SQLInputValue[])) as unknown as Row[];
    } catch (error) {
      throw this.sorted(error);
    }
  }

  /** @param longest as of `first` */
  each({ text, params }: Statement, longest = this.#usualLength): IterableIterator<Row> {
    const rows = this.ask(() => this.#prepare(text).iterate(...(params as SQLInputValue[])) as unknown as IterableIterator<Row>);
    const steps: IterableIterator<Row> = {
      [Symbol.iterator]: () => steps,
      next: () => {
        try {
          this.#limitLength(longest);
          return rows.next();
        } catch (error) {
          throw this.sorted(error);
        }
      },
      return: (value) => {
        try {
          return rows.return?.(value) ?? { done: true, value };
        } catch {
          // The connection was opened anew: the rows went with the old one.
          return { done: true, value };
        }
      },
    };
    return steps;
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

  /** The limit is the connection's, and setting it costs more than many a statement: it stays until another one is needed. */
  #limitLength(bytes: number): void {
    if (bytes === this.#length) return;
    this.#db.limits.length = bytes;
    this.#length = bytes;
  }

  /**
   * Reads that end where they meet a value, or sort a row, of more bytes: SQLite looks at lengths before it reads on.
   * @returns its methods throw NotShort then
   */
  shorterThan(bytes: number): Rows {
    return new BoundedRows(this, bytes);
  }

  #prepared(text: string): StatementSync {
    let statement = this.#statements.get(text);
    if (!statement) {
      statement = this.#prepare(text);
      this.#statements.set(text, statement);
    }
    return statement;
  }

  /** @throws badQuery (102) for a statement larger than SQLite takes, as a query of many sub-queries in each other can be */
  #prepare(text: string): StatementSync {
    let statement: StatementSync;
    try {
      statement = this.db.prepare(text);
    } catch (error) {
      if (error instanceof Error && tooLarge.test(error.message)) fail('badQuery', 'the query is too large');
      throw error;
    }
    statement.setReturnArrays(true);
    return statement;
  }

  /**
   * How many comparisons an index answers for a statement that goes through one table in order and sorts nothing; -1 for any other.
   * Remembered, since SQLite is asked for its plan.
   */
  constraintsTaken(text: string): number {
    let taken = this.#plans.get(text);
    if (taken === undefined) {
      taken = this.ask((db) => constraintsTaken(db.prepare(`EXPLAIN QUERY PLAN ${text}`).all()));
      this.#plans.set(text, taken);
    }
    return taken;
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

/** A file system that fails now may fail a close, too: what was open is given up all the same. */
function closeQuietly(db: DatabaseSync): void {
  try {
    db.close();
  } catch {
    // Nothing else is to be done about it.
  }
}

class BoundedRows implements Rows {
  readonly #rows: Connection;
  readonly #bytes: number;

  constructor(rows: Connection, bytes: number) {
    this.#rows = rows;
    this.#bytes = bytes;
  }

  first(statement: Statement): Row | undefined {
    return bounded(() => this.#rows.first(statement, this.#bytes));
  }

  all(statement: Statement): Row[] {
    return bounded(() => this.#rows.all(statement, this.#bytes));
  }

  *each(statement: Statement): IterableIterator<Row> {
    const rows = this.#rows.each(statement, this.#bytes);
    try {
      for (;;) {
        const next = bounded(() => rows.next());
        if (next.done) return;
        yield next.value;
      }
    } finally {
      rows.return?.();
    }
  }
}

function bounded<T>(step: () => T): T {
  try {
    return step();
  } catch (error) {
    throw (error as { errcode?: number }).errcode === SQLITE_TOOBIG ? new NotShort() : error;
  }
}

/** Reads SQLite's plan: `SCAN t`, `SEARCH t USING INDEX i (a=? AND b>?)`; a sub-query that only counts rows is a step around it. */
function constraintsTaken(plan: readonly Record<string, unknown>[]): number {
  const steps = plan.map((step) => String(step.detail)).filter((detail) => !/^(CO-ROUTINE|SCAN \(subquery)/.test(detail));
  const [step] = steps;
  if (step === undefined || steps.length > 1) return -1;
  return step.startsWith('SCAN') ? 0 : (step.match(/(?:=|[<>])\?/g)?.length ?? 0);
}
