/** Everything that a service has written, as an intruder would find it: for tests of what must not be stored. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { query } from '../../src/storage/postgres/testing/server.ts';
import type { Data } from './data.ts';

/** A file, or a row of the database. */
export interface Stored {
  path: string;
  bytes: Buffer;
}

/** Returns every file of the data directory, and on PostgreSQL every row of the database. */
export async function storedIn({ dataDir, database }: Data): Promise<Stored[]> {
  const files = await filesBelow(dataDir);
  return database ? [...files, ...(await rowsOf(database.url))] : files;
}

/** Returns every file below a directory, with its bytes. */
export async function filesBelow(directory: string): Promise<Stored[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(paths.map(async (path) => ({ path, bytes: await readFile(path) })));
}

async function rowsOf(url: string): Promise<Stored[]> {
  const own = `relkind IN ('r', 'p') AND nspname NOT LIKE 'pg\\_%' AND nspname <> 'information_schema'`;
  const tables = (await query(
    url,
    `SELECT format('%I.%I', nspname, relname) AS name FROM pg_class JOIN pg_namespace AS n ON n.oid = relnamespace WHERE ${own}`,
  )) as { name: string }[];
  const all = tables.map(({ name }) => `SELECT '${name.replaceAll("'", "''")}' AS path, t::text AS text FROM ${name} AS t`);
  const rows = (await query(url, all.join(' UNION ALL '))) as { path: string; text: string }[];
  return rows.map(({ path, text }) => ({ path, bytes: Buffer.from(text) }));
}
