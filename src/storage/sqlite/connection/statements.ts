import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { LRUCache } from 'lru-cache';
import { fail } from '../../../errors/fail.ts';
import type { TableSchema } from '../../../schema/model.ts';
import { NotShort, type Row } from '../../sql/reads/read-plan.ts';
import { quoted, type Statement } from '../../sql/writer.ts';
import type { Connection } from './connection.ts';
import { SQLITE_TOOBIG } from './map-error.ts';

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

/** The same where every read may have a bound of its own. */
export interface LimitedRows extends Rows {
  /** @param longest bytes that a value may have, also of those that SQLite sorts */
  first(statement: Statement, longest?: number): Row | undefined;
  /** @param longest as of `first` */
  all(statement: Statement, longest?: number): Row[];
}

/**
 * Rows one by one, other work may come in between.
 * @param before done before each step
 * @param sorted the error of a step as it leaves the engine
 */
export function rowSteps(
  rows: IterableIterator<Row>,
  before: () => void,
  sorted: (error: unknown) => unknown,
): IterableIterator<Row> {
  const steps: IterableIterator<Row> = {
    [Symbol.iterator]: () => steps,
    next: () => {
      try {
        before();
        return rows.next();
      } catch (error) {
        throw sorted(error);
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

/** Reads that end where they meet a value, or sort a row, of more bytes than they may: their methods throw NotShort then. */
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
    throw (error as { errcode?: number }).errcode === SQLITE_TOOBIG ? new NotShort() : error;
  }
}

/** Bytes that a value may have. The limit is the connection's, and setting it costs more than many a statement: it stays until another one is needed. */
export class LengthLimit {
  /** Where a statement has no bound of its own. */
  readonly #usual: number;
  /** Of the statement that ran last. */
  #last: number;

  constructor(db: DatabaseSync) {
    this.#usual = this.#last = db.limits.length;
  }

  set(db: DatabaseSync, bytes = this.#usual): void {
    if (bytes === this.#last) return;
    db.limits.length = bytes;
    this.#last = bytes;
  }

  /** The connection was opened anew. */
  reset(): void {
    this.#last = this.#usual;
  }
}

/** Statements that are used again, up to so many characters of text: a prepared one takes some ten times its text. */
const kept = { max: 500, maxSize: 2_000_000, sizeCalculation: (_: unknown, text: string) => text.length };

/** What was made of statements that are used again. */
export class StatementCache<T extends NonNullable<unknown>> {
  readonly #make: (db: DatabaseSync, text: string) => T;
  readonly #made = new LRUCache<string, T>(kept);

  constructor(make: (db: DatabaseSync, text: string) => T) {
    this.#make = make;
  }

  get(text: string): T | undefined {
    return this.#made.get(text);
  }

  /** @throws what the making throws */
  add(db: DatabaseSync, text: string): T {
    const made = this.#make(db, text);
    this.#made.set(text, made);
    return made;
  }

  clear(): void {
    this.#made.clear();
  }
}

/** What SQLite says of statements beyond its limits (https://sqlite.org/limits.html). */
const tooLarge = /^(?:Expression tree is too large|too many SQL variables|parser stack overflow)/;

/** Prepares a statement whose rows come as arrays. @throws badQuery (102) for a statement larger than SQLite takes, as a query of many sub-queries in each other can be */
export function prepare(db: DatabaseSync, text: string): StatementSync {
  let statement: StatementSync;
  try {
    statement = db.prepare(text);
  } catch (error) {
    if (error instanceof Error && tooLarge.test(error.message)) fail('badQuery', 'the query is too large');
    throw error;
  }
  statement.setReturnArrays(true);
  return statement;
}

/** How many comparisons an index answers for a statement that goes through one table in order and sorts nothing; -1 for any other. */
export function constraintsTaken(db: DatabaseSync, text: string): number {
  return constraintsIn(db.prepare(`EXPLAIN QUERY PLAN ${text}`).all());
}

/** Reads SQLite's plan: `SCAN t`, `SEARCH t USING INDEX i (a=? AND b>?)`; a sub-query that only counts rows is a step around it. */
function constraintsIn(plan: readonly Record<string, unknown>[]): number {
  const steps = plan.map((step) => String(step.detail)).filter((detail) => !/^(CO-ROUTINE|SCAN \(subquery)/.test(detail));
  const [step] = steps;
  if (step === undefined || steps.length > 1) return -1;
  return step.startsWith('SCAN') ? 0 : (step.match(/(?:=|[<>])\?/g)?.length ?? 0);
}

/** A table has no more records than this: the end of its row ids, which SQLite finds at once whatever its size. */
export function maxRowCount(connection: Connection, table: TableSchema): number {
  const [last] = connection.first({ text: `SELECT max("_seq") FROM ${quoted(table.sqlName)}`, params: [] }) as [number | null];
  return last ?? 0;
}

/** Bytes of all texts of some fields together, those of fields that are not there yet left out. SQLite tells a length without the text. */
export function textBytes(connection: Connection, { sqlName, fields }: TableSchema, names: readonly string[]): number {
  const columns = names.flatMap((name) => fields.get(name)?.column ?? []);
  if (columns.length === 0) return 0;
  const bytes = columns.map((column) => `coalesce(octet_length(${quoted(column)}), 0)`).join(' + ');
  const [sum] = connection.first({ text: `SELECT sum(${bytes}) FROM ${quoted(sqlName)}`, params: [] }) as [number | null];
  return sum ?? 0;
}

/** A log of changes (WAL), in pages: how long it is, and what of it has been copied into the file. */
export interface WalLength {
  readonly pages: number;
  readonly copied: number;
}

/** Asks for it, and copies nothing. */
export const walLengthQuery = 'PRAGMA wal_checkpoint(NOOP)';

/** @param statement `walLengthQuery`, prepared, whose rows come as arrays */
export function readWalLength(statement: StatementSync): WalLength {
  const [, pages, copied] = statement.get() as unknown as [number, number, number];
  return { pages, copied };
}

/** Copies the log into the file. Never throws. @returns whether all of it is there: a reader of an old state, or a fault, may keep some back */
export function copyWal(db: DatabaseSync): boolean {
  try {
    const [isBusy, pages, copied] = prepare(db, 'PRAGMA wal_checkpoint(PASSIVE)').get() as unknown as [number, number, number];
    // Where somebody else is copying there are no lengths.
    return isBusy === 0 && pages >= 0 && pages === copied;
  } catch {
    return false;
  }
}
