/** What is still to be done, as it lies in the store: the table of it exists for nobody who asks the service (docs/adr/0012). */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import type { Json } from '../support/records.ts';
import type { Service } from '../support/service.ts';

export interface Queue {
  /** Its rows, all of them. */
  rows(): Promise<Json[]>;
  close(): Promise<void>;
}

const named = '_TriggerQueue';

/** Opens the queue of the service's first system, to be read beside it. */
export async function openQueue({ database, dataDir, appId }: Service): Promise<Queue> {
  return database ? inPostgres(database.url) : inFile(join(dataDir, 'systems', appId, 'records.sqlite'));
}

function inFile(path: string): Queue {
  const db = new DatabaseSync(path, { readOnly: true });
  db.exec('PRAGMA busy_timeout = 5000');
  const read = db.prepare(`SELECT * FROM "t_${named}"`);
  return { rows: async () => read.all(), close: async () => db.close() };
}

async function inPostgres(connectionString: string): Promise<Queue> {
  const client = new pg.Client({ connectionString });
  // The database may go first.
  client.on('error', () => {});
  await client.connect();
  const { rows: found } = await client.query(
    `SELECT format('%I.%I', nspname, relname) AS name FROM pg_class JOIN pg_namespace AS n ON n.oid = relnamespace
      WHERE relname LIKE $1 AND relkind IN ('r', 'p')`,
    [`%${named}`],
  );
  return {
    rows: async () => (await client.query(`SELECT * FROM ${found[0].name}`)).rows,
    close: () => client.end(),
  };
}
