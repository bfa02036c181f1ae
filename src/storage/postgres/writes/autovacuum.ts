import { MINUTE_MS } from '../../../kernel/time.ts';
import type { Statement } from '../../sql/writer.ts';
import type { Row } from '../connection/database.ts';
import { quotedName } from '../sql/names.ts';
import { isTableOfSystem, tableObstacle } from './obstacles.ts';

/**
 * Milliseconds between two times when a change waits so long: reads of the table wait behind it. Doubled, up to the longest, with each
 * time in vain: one that prevents wraparound gives way to nobody.
 */
const EVERY_MS = 5_000;
const MAX_EVERY_MS = MINUTE_MS;
/** What the server takes to end it, and the longest wait, in milliseconds. */
const MARGIN_MS = 500;
const MAX_WAIT_MS = 3_000;

/**
 * The server ends an autovacuum that others wait for, but only for those that have waited for `deadlock_timeout`: longer than a change of the
 * schema waits for a lock, so that one of a large table would keep all changes from it for minutes.
 */
export class Autovacuums {
  readonly #read: (statement: Statement) => Promise<readonly Row[]>;
  readonly #statement: Statement;
  #everyMs = EVERY_MS;
  #nextAtMs = Number.NEGATIVE_INFINITY;

  constructor(read: (statement: Statement) => Promise<readonly Row[]>, schemaName: string) {
    this.#read = read;
    this.#statement = pending(schemaName);
  }

  /**
   * How long a change that did not get its lock is to wait for it, in milliseconds, so that the autovacuum that has one of its tables is ended.
   * @param obstacles the change's, as `obstaclesOf` has them
   * @returns 0 where none has one of them, or such a wait was just now
   */
  async waitFor(obstacles: readonly string[]): Promise<number> {
    if (performance.now() < this.#nextAtMs) return 0;
    const rows = await this.#read(this.#statement).catch(() => []);
    const found = rows.find(([name]) => obstacles.includes(tableObstacle(String(name))));
    const waitMs = found ? Number(found[1]) + MARGIN_MS : 0;
    if (waitMs === 0 || waitMs > MAX_WAIT_MS) return 0;
    this.#nextAtMs = performance.now() + this.#everyMs;
    this.#everyMs = Math.min(2 * this.#everyMs, MAX_EVERY_MS);
    return waitMs;
  }

  /** The change that waited so long has got its lock. */
  gaveWay(): void {
    this.#everyMs = EVERY_MS;
  }
}

/** Asks which tables of a system an autovacuum has, by themselves or by where their long values are, and after how many milliseconds it gives way. */
function pending(schemaName: string): Statement {
  return {
    // Of the sessions that others may see, those of no user are the server's own.
    text: `SELECT DISTINCT c.relname, (SELECT setting::integer FROM pg_settings WHERE name = 'deadlock_timeout')
      FROM pg_locks AS l JOIN pg_stat_activity AS a ON a.pid = l.pid AND a.usesysid IS NULL
      JOIN pg_class AS c ON l.relation = c.oid OR l.relation = c.reltoastrelid
      WHERE ${isTableOfSystem}
        AND l.mode = 'ShareUpdateExclusiveLock' AND l.granted`,
    params: [quotedName(schemaName)],
  };
}
