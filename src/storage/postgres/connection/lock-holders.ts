import type { Statement } from '../../sql/sql-writer.ts';
import type { Row } from './database.ts';

/** Milliseconds for which a result is reused for all callers. */
const FRESH_MS = 100;

const statement: Statement = {
  text: 'SELECT DISTINCT unnest(pg_blocking_pids(pid)) FROM pg_locks WHERE NOT granted',
  params: [],
};

/** Server processes that hold locks which others wait for. One query serves all callers within `FRESH_MS`. */
export class LockHolders {
  readonly #query: (statement: Statement) => Promise<readonly Row[]>;
  #holders: ReadonlySet<unknown> = new Set();
  #holdersAtMs = Number.NEGATIVE_INFINITY;
  #pending: Promise<void> | undefined;

  constructor(query: (statement: Statement) => Promise<readonly Row[]>) {
    this.#query = query;
  }

  /** Whether a process is one of them. @throws what the query throws */
  async has(processId: number): Promise<boolean> {
    if (performance.now() - this.#holdersAtMs > FRESH_MS) {
      this.#pending ??= this.#find().finally(() => {
        this.#pending = undefined;
      });
      await this.#pending;
    }
    return this.#holders.has(processId);
  }

  async #find(): Promise<void> {
    const rows = await this.#query(statement);
    this.#holders = new Set(rows.map(([holder]) => holder));
    this.#holdersAtMs = performance.now();
  }
}
