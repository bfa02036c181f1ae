import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { LRUCache } from 'lru-cache';
import { fail } from '../../errors/fail.ts';
import { NotShort, type Row } from '../sql/reads/allowance.ts';
import type { Statement } from '../sql/writer.ts';
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

/** How long a connection waits for another process that writes (an import, a backup), in milliseconds. */
const BUSY_TIMEOUT = 5_000;
/** Bytes of a value that a read may build: an aggregation could put whole tables into one. Stored ones come from bodies, which are smaller. */
export const LARGEST_VALUE = 64 * 1024 * 1024;
/** Statements that are used again, up to so many characters of text: a prepared one takes some ten times its text. */
const kept = { max: 500, maxSize: 2_000_000, sizeCalculation: (_: unknown, text: string) => text.length };
/** What SQLite says of statements beyond its limits (https://sqlite.org/limits.html). */
const tooLarge = /^(?:Expression tree is too large|too many SQL variables|parser stack overflow)/;

/** What SQLite says of a value that is longer than it may be. */
export const SQLITE_TOOBIG = 18;

/** One SQLite connection with its prepared statements. Rows come as arrays. */
export class Connection implements Rows {
  readonly #db: DatabaseSync;
  /** Bytes that a value may have where a statement has no bound of its own. */
  readonly #usualLength: number;
  /** The same of the statement that ran last. */
  #length: number;
  readonly #plans = new LRUCache<string, number>(kept);
  readonly #statements = new LRUCache<string, StatementSync>(kept);

  /**
   * @param mode `write` for the one connection that writes, `read` for reader threads
   * @param tick asked now and then by interruptible statements; may throw to end the statement
   */
  constructor(path: string, mode: 'write' | 'read', tick?: () => void) {
    this.#db = new DatabaseSync(path, {
      readOnly: mode === 'read',
      timeout: BUSY_TIMEOUT,
      enableForeignKeyConstraints: false,
      ...(mode === 'read' ? { limits: { length: LARGEST_VALUE } } : {}),
    });
    if (mode === 'write') {
      // FULL: an acknowledged write survives a power cut; group commit pays for it. Threads empty the log long before it has 20,000 pages.
      this.#db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 20000');
    }
    this.#usualLength = this.#length = this.#db.limits.length;
    this.keepPages(mode === 'write' ? 16_000 : 4_000);
    registerFunctions(this.#db, tick ? { tick } : {});
  }

  /** The database itself, for statements that are not kept. */
  get db(): DatabaseSync {
    this.#limitLength(this.#usualLength);
    return this.#db;
  }

  /** Runs a statement without values, such as one that begins or ends a transaction. */
  execute(text: string): void {
    this.run({ text, params: [] });
  }

  /** Runs a statement that returns nothing. */
  run({ text, params }: Statement): void {
    const statement = this.#prepared(text);
    this.#limitLength(this.#usualLength);
    statement.run(...(params as SQLInputValue[]));
  }

  /** @param longest bytes that a value may have, also of those that SQLite sorts */
  first({ text, params }: Statement, longest = this.#usualLength): Row | undefined {
    const statement = this.#prepared(text);
    this.#limitLength(longest);
    return statement.get(...(params as SQLInputValue[])) as unknown as Row | undefined;
  }

  /** @param longest as of `first` */
  all({ text, params }: Statement, longest = this.#usualLength): Row[] {
    const statement = this.#prepared(text);
    this.#limitLength(longest);
    return statement.all(...(params as SQLInputValue[])) as unknown as Row[];
  }

  /** @param longest as of `first` */
  each({ text, params }: Statement, longest = this.#usualLength): IterableIterator<Row> {
    const rows = this.#prepare(text).iterate(...(params as SQLInputValue[])) as unknown as IterableIterator<Row>;
    const steps: IterableIterator<Row> = {
      [Symbol.iterator]: () => steps,
      next: () => {
        this.#limitLength(longest);
        return rows.next();
      },
      return: (value) => rows.return?.(value) ?? { done: true, value },
    };
    return steps;
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
      taken = constraintsTaken(this.db.prepare(`EXPLAIN QUERY PLAN ${text}`).all());
      this.#plans.set(text, taken);
    }
    return taken;
  }

  /** @param size KiB of the file's pages that are kept in memory at the most */
  keepPages(size: number): void {
    this.db.exec(`PRAGMA cache_size = -${size}`);
  }

  /** Plans no longer hold after indexes changed. */
  forgetPlans(): void {
    this.#plans.clear();
  }

  close(): void {
    this.#statements.clear();
    this.db.close();
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
