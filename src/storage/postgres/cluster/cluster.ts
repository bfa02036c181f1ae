import type { Cluster } from '../../cluster.ts';
import type { Database } from '../connection/database.ts';
import { schemaName } from '../sql/names.ts';
import { takeLease } from './leases.ts';
import type { Liveness } from './liveness.ts';

/**
 * Processes that share a database. Advisory locks of their sessions show which are alive (liveness.ts); leases of periodic jobs are rows in a table
 * of each system (leases.ts).
 */
export class PostgresCluster implements Cluster {
  readonly noticesAllWrites = false;
  readonly #database: Database;
  readonly #liveness: Liveness;

  constructor(database: Database, liveness: Liveness) {
    this.#database = database;
    this.#liveness = liveness;
  }

  get processId(): string {
    return this.#liveness.id;
  }

  processes(): Promise<ReadonlySet<string>> {
    return this.#liveness.peers(this.#database);
  }

  takeLease(place: string, job: string, everyMs: number): Promise<boolean> {
    return takeLease(this.#database, schemaName(place), job, everyMs);
  }
}
