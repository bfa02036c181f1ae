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
  readonly #plans = new LRUCache<string, number>({ max: STATEMENTS_KEPT });
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
    this.db.exec(`PRAGMA cache_size = -${mode === 'write' ? 16_000 : 4_000}`);
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

  /** Plans no longer hold after indexes changed. */
  forgetPlans(): void {
    this.#plans.clear();
  }

  close(): void {
    this.#statements.clear();
    this.db.close();
  }
}

/** Reads SQLite's plan: `SCAN t`, `SEARCH t USING INDEX i (a=? AND b>?)`; a sub-query that only counts rows is a step around it. */
function constraintsTaken(plan: readonly Record<string, unknown>[]): number {
  const steps = plan.map((step) => String(step.detail)).filter((detail) => !/^(CO-ROUTINE|SCAN \(subquery)/.test(detail));
  const [step] = steps;
  if (step === undefined || steps.length > 1) return -1;
  return step.startsWith('SCAN') ? 0 : (step.match(/(?:=|[<>])\?/g)?.length ?? 0);
}
