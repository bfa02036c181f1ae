import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { LRUCache } from 'lru-cache';
import { fail } from '../../../errors/fail.ts';
import type { TableSchema } from '../../../schema/model.ts';
import { type Row, TooLong } from '../../sql/reads/read-plan.ts';
import { quoted, type Statement } from '../../sql/sql-writer.ts';
import type { Connection } from './connection.ts';
import { SQLITE_TOOBIG } from './map-error.ts';

export type { Row };

/** Reads the rows of statements. */
export interface Rows {
  /** Returns the first row. */
  first(statement: Statement): Row | undefined;
  /** Returns all rows. */
  all(statement: Statement): Row[];
  /**
   * Returns an iterator over rows, from a separate prepared statement, so that other work may run in between.
   * @param maxValueBytes of a value, if lower than usual
   */
  each(statement: Statement, maxValueBytes?: number): IterableIterator<Row>;
}

/** Reads with a limit per read. */
export interface LimitedRows extends Rows {
  /** @param maxValueBytes of a value or of a row that SQLite sorts */
  first(statement: Statement, maxValueBytes?: number): Row | undefined;
  /** @param maxValueBytes see `first` */
  all(statement: Statement, maxValueBytes?: number): Row[];
}

/** The reads of the event loop, which decide by their plans whether they are short. */
export interface PlannedRows extends LimitedRows {
  /** See `Connection.shorterThan`. */
  shorterThan(bytes: number): Rows;
  /** See `Connection.constraintsTaken`. */
  constraintsTaken(text: string): number;
}

/**
 * Wraps an iterator over rows so that other work may run between steps.
 * @param before runs before each step
 * @param mapError maps the error of a step to the form in which it leaves the engine
 */
export function rowSteps(
  rows: IterableIterator<Row>,
  before: () => void,
  mapError: (error: unknown) => unknown,
): IterableIterator<Row> {
  const steps: IterableIterator<Row> = {
    [Symbol.iterator]: () => steps,
    next: () => {
      try {
        before();
        return rows.next();
      } catch (error) {
        throw mapError(error);
      }
    },
    return: (value) => {
      try {
        return rows.return?.(value) ?? { done: true, value };
      } catch {
        // The connection was reopened; the rows ended with the old one.
        return { done: true, value };
      }
    },
  };
  return steps;
}

/** Reads that stop at a value, or a row to sort, with more bytes than allowed: their methods then throw TooLong. */
export class BoundedRows implements Rows {
  readonly #rows: LimitedRows;
  readonly #bytes: number;

  constructor(rows: LimitedRows, bytes: number) {
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
    throw (error as { errcode?: number }).errcode === SQLITE_TOOBIG ? new TooLong() : error;
  }
}

/** The limit of value sizes of a connection. Setting it takes longer than many statements, so it is set only when it changes. */
export class LengthLimit {
  /** For statements without a limit of their own. */
  readonly #default: number;
  /** The value in force. */
  #current: number;

  constructor(db: DatabaseSync) {
    this.#default = this.#current = db.limits.length;
  }

  set(db: DatabaseSync, bytes = this.#default): void {
    if (bytes === this.#current) return;
    db.limits.length = bytes;
    this.#current = bytes;
  }

  /** Call when the connection was reopened. */
  reset(): void {
    this.#current = this.#default;
  }
}

/** Size limits of a cache of statements, in characters of SQL: a prepared statement takes about ten times its text. */
const cacheLimits = { max: 500, maxSize: 2_000_000, sizeCalculation: (_: unknown, text: string) => text.length };

/** Caches what was derived from a statement's text. */
export class StatementCache<T extends NonNullable<unknown>> {
  readonly #make: (db: DatabaseSync, text: string) => T;
  readonly #cached = new LRUCache<string, T>(cacheLimits);

  constructor(make: (db: DatabaseSync, text: string) => T) {
    this.#make = make;
  }

  get(text: string): T | undefined {
    return this.#cached.get(text);
  }

  /** @throws what `make` throws */
  add(db: DatabaseSync, text: string): T {
    const made = this.#make(db, text);
    this.#cached.set(text, made);
    return made;
  }

  clear(): void {
    this.#cached.clear();
  }
}

/** SQLite's errors for statements beyond its limits (https://sqlite.org/limits.html). */
const limitErrors = /^(?:Expression tree is too large|too many SQL variables|parser stack overflow)/;

/**
 * Prepares a statement that returns rows as arrays. @throws badQuery (102) for a statement beyond SQLite's limits, e.g. with many nested sub-queries
 */
export function prepare(db: DatabaseSync, text: string): StatementSync {
  let statement: StatementSync;
  try {
    statement = db.prepare(text);
  } catch (error) {
    if (error instanceof Error && limitErrors.test(error.message)) fail('badQuery', 'the query is too large');
    throw error;
  }
  statement.setReturnArrays(true);
  return statement;
}

/** Returns how many comparisons an index answers for a statement that scans one table in order without sorting; -1 for any other. */
export function constraintsTaken(db: DatabaseSync, text: string): number {
  return constraintsIn(db.prepare(`EXPLAIN QUERY PLAN ${text}`).all());
}

/** Parses SQLite's plan: `SCAN t`, `SEARCH t USING INDEX i (a=? AND b>?)`. The sub-query of `compileCountUpTo` adds two steps. */
function constraintsIn(plan: readonly Record<string, unknown>[]): number {
  const steps = plan.map((step) => String(step.detail)).filter((detail) => !/^(?:CO-ROUTINE|SCAN) counted$/.test(detail));
  const [step] = steps;
  if (step === undefined || steps.length > 1) return -1;
  return step.startsWith('SCAN') ? 0 : (step.match(/(?:=|[<>])\?/g)?.length ?? 0);
}

/** Returns an upper bound of a table's row count: its highest row id, which SQLite finds immediately. */
export function maxRowCount(connection: Pick<Rows, 'first'>, table: TableSchema): number {
  const [last] = connection.first({ text: `SELECT max("_seq") FROM ${quoted(table.sqlName)}`, params: [] }) as [number | null];
  return last ?? 0;
}

/** Returns the total bytes of the values of some fields; Relations, and fields that do not exist yet, are skipped. SQLite gets a length without reading the text. */
export function textBytes(connection: Connection, { sqlName, fields }: TableSchema, names: readonly string[]): number {
  const columns = names.flatMap((name) => {
    const field = fields.get(name);
    return field && field.type !== 'Relation' ? field.column : [];
  });
  if (columns.length === 0) return 0;
  const bytes = columns.map((column) => `coalesce(octet_length(${quoted(column)}), 0)`).join(' + ');
  const [sum] = connection.first({ text: `SELECT sum(${bytes}) FROM ${quoted(sqlName)}`, params: [] }) as [number | null];
  return sum ?? 0;
}

/** Length of a WAL in pages, and how many of them have been copied into the file. */
export interface WalLength {
  readonly pages: number;
  readonly copied: number;
}

/** Queries SQLite's count of other connections' commits. */
export const foreignCommitsQuery: Statement = { text: 'PRAGMA data_version', params: [] };

/** Queries the length without copying anything. */
export const walLengthQuery = 'PRAGMA wal_checkpoint(NOOP)';

/** @param statement `walLengthQuery`, prepared with rows as arrays */
export function readWalLength(statement: StatementSync): WalLength {
  const [, pages, copied] = statement.get() as unknown as [number, number, number];
  return { pages, copied };
}

/**
 * Copies the WAL into the file. Never throws. @returns whether it was copied completely: a reader of an old snapshot, or a fault, may prevent that
 */
export function copyWal(db: DatabaseSync): boolean {
  try {
    const [isBusy, pages, copied] = prepare(db, 'PRAGMA wal_checkpoint(PASSIVE)').get() as unknown as [number, number, number];
    // While another connection is copying, lengths are negative.
    return isBusy === 0 && pages >= 0 && pages === copied;
  } catch {
    return false;
  }
}
