import type { DatabaseSync } from 'node:sqlite';
import { NotShort, type Row } from '../../sql/reads/allowance.ts';
import type { Statement } from '../../sql/writer.ts';
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
