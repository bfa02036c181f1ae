import type { Statement } from '../../sql/writer.ts';
import type { Row } from './database.ts';

/** Milliseconds for which an answer is good for all who ask. */
const FRESH_MS = 100;

const statement: Statement = {
  text: 'SELECT DISTINCT unnest(pg_blocking_pids(pid)) FROM pg_locks WHERE NOT granted',
  params: [],
};

/** The server processes that hold locks which others wait for. However many ask, the database is asked once in a while. */
export class LockHolders {
  readonly #query: (statement: Statement) => Promise<readonly Row[]>;
  #found: Promise<ReadonlySet<unknown>> | undefined;
  #since = 0;

  constructor(query: (statement: Statement) => Promise<readonly Row[]>) {
    this.#query = query;
  }

  /** Whether a process is one of them. @throws what the query throws */
  async has(processId: number): Promise<boolean> {
    const now = performance.now();
    if (!this.#found || now - this.#since > FRESH_MS) {
      this.#since = now;
      this.#found = this.#query(statement).then((rows) => new Set(rows.map(([holder]) => holder)));
    }
    return (await this.#found).has(processId);
  }
}
