/** Helpers shared by the tests of the connections. */
import type pg from 'pg';
import type { StoredValue } from '../../../../values/types/type.ts';
import type { Statement } from '../../../sql/sql-writer.ts';
import { query, type TestDatabase, testDatabase } from '../../testing/server.ts';
import { newClient } from '../connect.ts';
import { connectDatabase } from '../connect-database.ts';
import type { Database } from '../database.ts';

export function sql(text: string, ...params: StoredValue[]): Statement {
  return { text, params };
}

/** Returns a connected client in the mode that `PipelinedConnection` needs. */
export async function openClient(url: string): Promise<pg.Client> {
  const client = newClient({ url, pooled: false, isCoordinator: false }, { statement: 0, lock: 0 });
  await client.connect();
  return client;
}

/** Connections to a database of this test, which is dropped at its end. */
export interface Opened {
  readonly url: string;
  readonly database: Database;
  /** Runs SQL on a separate connection. */
  admin(text: string): Promise<unknown[]>;
  /** Terminates the server's sessions whose last statement and state match. @returns their number */
  cut(like: string, state?: string): Promise<number>;
}

/** @param via rewrites the URL, to connect through something else */
export async function withDatabase(
  work: (opened: Opened) => Promise<void>,
  options: { timeLimit?: number; connections?: number; via?: (url: string) => Promise<string> } = {},
): Promise<void> {
  const made: TestDatabase = await testDatabase();
  const { timeLimit = 5000, connections = 12, via } = options;
  const url = via ? await via(made.url) : made.url;
  const database = await connectDatabase(url, { timeLimit, connections });
  const admin = (text: string) => query(made.url, text);
  const cut = async (like: string, state = '%') => {
    const rows = await admin(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '${like}' AND state LIKE '${state}'`);
    return rows.length;
  };
  try {
    await work({ url, database, admin, cut });
  } finally {
    await database.close();
    await made.drop();
  }
}
