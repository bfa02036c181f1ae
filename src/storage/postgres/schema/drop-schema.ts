import type { Database, Session } from '../connection/database.ts';
import { mayRetry } from '../connection/map-error.ts';
import { quotedName } from '../sql/names.ts';

/** Tables that one transaction drops: each takes some twenty locks, and the server has some thousands for all its sessions. */
const MAX_TABLES = 50;

/**
 * Drops a PostgreSQL schema with all that is in it, in several transactions. The catalogue goes first, and whose it was
 * last: what is left where this is cut off is no system any more, and is known.
 */
export async function dropSchema(database: Database, schemaName: string): Promise<void> {
  const schema = quotedName(schemaName);
  const some = {
    text: `SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace($1) AND relkind IN ('r', 'p')
      ORDER BY relname = 'rds_store', relname NOT LIKE 'rds\\_%', relname LIMIT ${MAX_TABLES}`,
    params: [schema],
  };
  const work = async (session: Session) => {
    const names = (await session.query(some)).rows.map(([name]) => `${schema}.${quotedName(String(name))}`);
    // The schema goes with what says whose it was.
    const isLast = names.length < MAX_TABLES;
    const text = isLast ? `DROP SCHEMA IF EXISTS ${schema} CASCADE` : `DROP TABLE IF EXISTS ${names.join(', ')} CASCADE`;
    await session.query({ text, params: [] });
    return !isLast;
  };
  // Requests that are under way hold the same tables in another order.
  const isLeft = () => database.transact(work, { timeLimit: 0 }).catch((error) => mayRetry(error) || Promise.reject(error));
  while (await isLeft());
}
