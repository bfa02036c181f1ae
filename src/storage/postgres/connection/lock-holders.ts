import type { Statement } from '../../sql/writer.ts';
import type { Row } from './database.ts';

/** Milliseconds for which an answer is good for all callers. */
const FRESH_MS = 100;

const statement: Statement = {
  text: 'SELECT DISTINCT unnest(pg_blocking_pids(pid)) FROM pg_locks WHERE NOT granted',
  params: [],
};

/** The server processes that hold locks which others wait for. However many ask, the database is asked once in a while. */
export class LockHolders {
  readonly #query: (statement: Statement) => Promise<readonly Row[]>;
  #found: ReadonlySet<unknown> = new Set();
  #foundAtMs = Number.NEGATIVE_INFINITY;
  #underWay: Promise<void> | undefined;

  constructor(query: (statement: Statement) => Promise<readonly Row[]>) {
    this.#query = query;
  }

  /** Whether a process is one of them. @throws what the query throws */
  async has(processId: number): Promise<boolean> {
    if (performance.now() - this.#foundAtMs > FRESH_MS) {
      this.#underWay ??= this.#find().finally(() => {
        this.#underWay = undefined;
      });
      await this.#underWay;
    }
    return this.#found.has(processId);
  }

  async #find(): Promise<void> {
    const rows = await this.#query(statement);
    this.#found = new Set(rows.map(([holder]) => holder));
    this.#foundAtMs = performance.now();
  }
}
