import type { Database, Session } from '../connection/database.ts';
import { mayRetry } from '../connection/map-error.ts';
import { quotedName } from '../sql/names.ts';

/** Tables dropped by one transaction. Each takes about twenty locks, and the server has a few thousand for all sessions. */
const MAX_TABLES = 50;

/**
 * Drops a PostgreSQL schema with all its content, in several transactions. The catalogue goes first and the identity last: after an interruption,
 * the rest is no longer a system but can still be identified.
 */
export async function dropSchema(database: Database, schemaName: string): Promise<void> {
  const schema = quotedName(schemaName);
  const nextTables = {
    // By the dependencies, which have an index: pg_class has none by schema, and 1.5 million rows with 1,000 systems.
    text: `SELECT relname FROM pg_depend AS d JOIN pg_class AS c ON c.oid = d.objid
      WHERE d.refclassid = 'pg_namespace'::regclass AND d.refobjid = to_regnamespace($1) AND d.classid = 'pg_class'::regclass
        AND c.relkind IN ('r', 'p')
      ORDER BY relname = 'rds_store', relname NOT LIKE 'rds\\_%', relname LIMIT ${MAX_TABLES}`,
    params: [schema],
  };
  const work = async (session: Session) => {
    const names = (await session.query(nextTables)).rows.map(([name]) => `${schema}.${quotedName(String(name))}`);
    // The last transaction drops the schema together with the identity.
    const isLast = names.length < MAX_TABLES;
    const text = isLast ? `DROP SCHEMA IF EXISTS ${schema} CASCADE` : `DROP TABLE IF EXISTS ${names.join(', ')} CASCADE`;
    await session.query({ text, params: [] });
    return !isLast;
  };
  // Running requests may lock the same tables in another order: retry after a deadlock.
  const dropSome = () =>
    database.transact(work, { timeLimit: 0, location: schemaName }).catch((error) => mayRetry(error) || Promise.reject(error));
  while (await dropSome());
}
