import type { Cluster } from '../../cluster.ts';
import type { Database } from '../connection/database.ts';
import { schemaName } from '../sql/names.ts';
import { claim } from './leases.ts';
import type { Presence } from './liveness.ts';

/** The processes that share a database: known by locks of their sessions (liveness.ts), with leases in a table of each system (leases.ts). */
export class PostgresCluster implements Cluster {
  readonly #database: Database;
  readonly #presence: Presence;

  constructor(database: Database, presence: Presence) {
    this.#database = database;
    this.#presence = presence;
  }

  get processId(): string {
    return this.#presence.id;
  }

  processes(): Promise<ReadonlySet<string>> {
    return this.#presence.peers(this.#database);
  }

  takeLease(appId: string, job: string, everyMs: number): Promise<boolean> {
    return claim(this.#database, schemaName(appId), job, everyMs);
  }
}
