import { MINUTE_MS } from '../../../kernel/time.ts';
import type { Statement } from '../../sql/sql-writer.ts';
import type { Row } from '../connection/database.ts';
import { quotedName } from '../sql/names.ts';
import { isTableOfSystem, tableObstacle } from './obstacles.ts';

/**
 * Minimum interval between two such long waits of a change, in milliseconds, since reads of the table queue behind it. Doubled, up to the maximum,
 * after each wait in vain: an autovacuum that prevents wraparound never gives way.
 */
const MIN_INTERVAL_MS = 5_000;
const MAX_INTERVAL_MS = MINUTE_MS;
/** Time that the server needs to cancel the autovacuum, and the maximum wait, in milliseconds. */
const MARGIN_MS = 500;
const MAX_WAIT_MS = 3_000;

/**
 * The server cancels an autovacuum that blocks others, but only after they have waited for `deadlock_timeout`. A schema change waits for its locks
 * for less, so the autovacuum of a large table would block all changes of it for minutes.
 */
export class Autovacuums {
  readonly #query: (statement: Statement) => Promise<readonly Row[]>;
  readonly #statement: Statement;
  #intervalMs = MIN_INTERVAL_MS;
  #nextAtMs = Number.NEGATIVE_INFINITY;

  /** @param isCoordinator as in `Database`: an autovacuum runs on a node, where this process does not see it */
  constructor(query: (statement: Statement) => Promise<readonly Row[]>, schemaName: string, isCoordinator: boolean) {
    this.#query = query;
    this.#statement = isCoordinator ? anyTable : pending(schemaName);
  }

  /**
   * Returns how many milliseconds a change that did not get its lock should wait, so that the autovacuum on one of its tables is cancelled.
   * @param obstacles of the change, as returned by `obstaclesOf`
   * @returns 0 if none of its tables is being vacuumed, or the last such wait was too recent
   */
  async waitFor(obstacles: readonly string[]): Promise<number> {
    if (performance.now() < this.#nextAtMs) return 0;
    const rows = await this.#query(this.#statement).catch(() => []);
    const found = rows.find(([name]) => name === null || obstacles.includes(tableObstacle(String(name))));
    const waitMs = found ? Number(found[1]) + MARGIN_MS : 0;
    if (waitMs === 0 || waitMs > MAX_WAIT_MS) return 0;
    this.#nextAtMs = performance.now() + this.#intervalMs;
    this.#intervalMs = Math.min(2 * this.#intervalMs, MAX_INTERVAL_MS);
    return waitMs;
  }

  /** Must be called when the change got its lock after a long wait: resets the interval. */
  onLockAcquired(): void {
    this.#intervalMs = MIN_INTERVAL_MS;
  }
}

const TIMEOUT = `(SELECT setting::integer FROM pg_settings WHERE name = 'deadlock_timeout')`;

/** In place of `pending` for a coordinator: any table may be being vacuumed. */
const anyTable: Statement = { text: `SELECT NULL, ${TIMEOUT}`, params: [] };

/**
 * Queries which tables of a system are being vacuumed (themselves or their TOAST tables), and the milliseconds after which an autovacuum gives way.
 */
function pending(schemaName: string): Statement {
  return {
    // Autovacuum workers have no user id, which is visible to every user.
    text: `SELECT DISTINCT c.relname, ${TIMEOUT}
      FROM pg_locks AS l JOIN pg_stat_activity AS a ON a.pid = l.pid AND a.usesysid IS NULL
      JOIN pg_class AS c ON l.relation = c.oid OR l.relation = c.reltoastrelid
      WHERE ${isTableOfSystem}
        AND l.mode = 'ShareUpdateExclusiveLock' AND l.granted`,
    params: [quotedName(schemaName)],
  };
}
