import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { LRUCache } from 'lru-cache';
import type { Statement } from '../sql/select.ts';
import { registerFunctions } from './functions.ts';

/** Values of a row, in the order of its columns. */
export type Row = readonly unknown[];

/** How long a connection waits for another process that writes (an import, a backup), in milliseconds. */
const BUSY_TIMEOUT = 5_000;
const STATEMENTS_KEPT = 500;

/** One SQLite connection with its prepared statements. Rows come as arrays. */
export class Connection {
  readonly db: DatabaseSync;
  readonly #plans = new LRUCache<string, readonly string[]>({ max: STATEMENTS_KEPT });
  readonly #statements = new LRUCache<string, StatementSync>({ max: STATEMENTS_KEPT });

  /**
   * @param mode `write` for the one connection that writes, `read` for reader threads
   * @param tick asked now and then by interruptible statements; may throw to end the statement
   */
  constructor(path: string, mode: 'write' | 'read', tick?: () => void) {
    this.db = new DatabaseSync(path, { readOnly: mode === 'read', timeout: BUSY_TIMEOUT, enableForeignKeyConstraints: false });
    if (mode === 'write') {
      // FULL: an acknowledged write survives a power cut; group commit pays for it. Threads empty the log long before it has 20,000 pages.
      this.db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 20000');
    }
    this.db.exec('PRAGMA cache_size = -16000; PRAGMA mmap_size = 1073741824');
    registerFunctions(this.db, tick ? { tick } : {});
  }

  /** Runs a statement that returns nothing. */
  run({ text, params }: Statement): void {
    this.#prepared(text).run(...(params as SQLInputValue[]));
  }

  /** The first row. */
  first({ text, params }: Statement): Row | undefined {
    return this.#prepared(text).get(...(params as SQLInputValue[])) as unknown as Row | undefined;
  }

  /** All rows. */
  all({ text, params }: Statement): Row[] {
    return this.#prepared(text).all(...(params as SQLInputValue[])) as unknown as Row[];
  }

  /** Rows one by one, from a statement of their own: other work may come in between. */
  each({ text, params }: Statement): IterableIterator<Row> {
    return this.#prepare(text).iterate(...(params as SQLInputValue[])) as unknown as IterableIterator<Row>;
  }

  #prepared(text: string): StatementSync {
    let statement = this.#statements.get(text);
    if (!statement) {
      statement = this.#prepare(text);
      this.#statements.set(text, statement);
    }
    return statement;
  }

  #prepare(text: string): StatementSync {
    const statement = this.db.prepare(text);
    statement.setReturnArrays(true);
    return statement;
  }

  /** The steps of SQLite's plan for a statement, remembered. */
  plan(text: string): readonly string[] {
    let plan = this.#plans.get(text);
    if (!plan) {
      plan = this.db
        .prepare(`EXPLAIN QUERY PLAN ${text}`)
        .all()
        .map((step) => String(step.detail));
      this.#plans.set(text, plan);
    }
    return plan;
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
