import { randomInt } from 'node:crypto';
import type { Database } from '../connection/database.ts';

/** First key of the advisory locks that mark live processes, to tell them from all other advisory locks of a database. */
const LOCKS = 1_919_185_779;

/**
 * Makes this process visible to the others for as long as one of its sessions holds an advisory lock. The lock is shared, so that a new session
 * need not wait until the server notices the end of the previous one.
 */
export class Liveness {
  readonly #key = randomInt(1, 2 ** 31);

  /** Id of the process; a new one at each start. */
  get id(): string {
    return String(this.#key);
  }

  /** Statement that takes the lock until the session ends. */
  get forSession(): string {
    return `SELECT pg_advisory_lock_shared(${LOCKS}, ${this.#key})`;
  }

  /** Statement that takes the lock until the transaction ends. */
  get forTransaction(): string {
    return `SELECT pg_advisory_xact_lock_shared(${LOCKS}, ${this.#key})`;
  }

  /** Returns the ids of all live processes, always including this one. @throws unavailable */
  async peers(database: Database): Promise<ReadonlySet<string>> {
    const text = `SELECT DISTINCT objid FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND granted AND classid = ${LOCKS}
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
    const rows = await database.short({ text, params: [] });
    return new Set([this.id, ...rows.map(([key]) => String(key))]);
  }
}
