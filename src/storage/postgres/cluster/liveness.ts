import { randomInt } from 'node:crypto';
import type { Database } from '../connection/database.ts';

/** What the locks by which processes know of each other have in common, among all advisory locks of a database. */
const LOCKS = 1_919_185_779;

/**
 * A process as the others see it: there for as long as a session of its own holds a lock. The lock is shared, so that a new session need not
 * wait until the server notices the end of the one before.
 */
export class Liveness {
  readonly #key = randomInt(1, 2 ** 31);

  /** Names the process; another one at each start. */
  get id(): string {
    return String(this.#key);
  }

  /** The statement that shows the process for as long as the session lasts. */
  get forSession(): string {
    return `SELECT pg_advisory_lock_shared(${LOCKS}, ${this.#key})`;
  }

  /** The same for as long as the transaction lasts. */
  get forTransaction(): string {
    return `SELECT pg_advisory_xact_lock_shared(${LOCKS}, ${this.#key})`;
  }

  /** The names of all processes that are there now, and of this one in any case. @throws unavailable */
  async peers(database: Database): Promise<ReadonlySet<string>> {
    const text = `SELECT DISTINCT objid FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND granted AND classid = ${LOCKS}
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
    const rows = await database.short({ text, params: [] });
    return new Set([this.id, ...rows.map(([key]) => String(key))]);
  }
}
