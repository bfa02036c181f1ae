import { after } from 'node:test';
import pg from 'pg';
import { sharedServer, testDatabase } from '../../../testing/server.ts';

/**
 * Opens a connection for the duration of a test file.
 * @returns a function that returns which texts a PostgreSQL pattern matches
 */
export async function startMatcher(): Promise<(pattern: string, texts: readonly string[]) => Promise<string[]>> {
  const database = await testDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  after(async () => {
    await client.end();
    await database.drop();
    await (await sharedServer()).close();
  });
  await client.query("SET statement_timeout = '5s'");
  const sql = 'SELECT t FROM unnest($2::text[]) WITH ORDINALITY AS u(t, n) WHERE t COLLATE "C" ~ $1 ORDER BY n';
  return async (pattern, texts) => (await client.query<{ t: string }>(sql, [pattern, texts])).rows.map(({ t }) => t);
}
