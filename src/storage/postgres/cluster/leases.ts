import type { Statement } from '../../sql/sql-writer.ts';
import type { Database } from '../connection/database.ts';
import { causeOf, mapWriteError } from '../connection/map-error.ts';
import { quotedName } from '../sql/names.ts';

const leases = (schemaName: string) => `${quotedName(schemaName)}.rds_claims`;

/** Returns the statements that create the table of periodic jobs, with the time when each is next due. */
export function leaseStatements(schemaName: string): Statement[] {
  const text = `CREATE TABLE ${leases(schemaName)} (job text COLLATE "C" PRIMARY KEY, "nextAt" bigint NOT NULL)`;
  return [{ text, params: [] }];
}

/** The server's clock, which all processes share, in milliseconds since 1970. Not `clock_timestamp()`: a coordinator takes no volatile function here. */
const now = '(extract(epoch FROM statement_timestamp()) * 1000)::bigint';

/**
 * Takes the lease of a periodic job if no process has taken it within the last `everyMs` milliseconds. Does not wait for a process that is taking
 * it at the moment.
 * @returns whether this process got it
 * @throws unavailable, and other errors of a write
 */
export async function takeLease(database: Database, schemaName: string, job: string, everyMs: number): Promise<boolean> {
  const table = leases(schemaName);
  const statements = [
    { text: `INSERT INTO ${table} (job, "nextAt") VALUES ($1, 0) ON CONFLICT DO NOTHING`, params: [job] },
    {
      text: `UPDATE ${table} SET "nextAt" = ${now} + $2::bigint
        WHERE job = (SELECT job FROM ${table} WHERE job = $1 AND "nextAt" <= ${now} FOR UPDATE SKIP LOCKED)`,
      params: [job, everyMs],
    },
  ];
  const [, claimed] = await database.atomically(statements, schemaName).catch((error) => {
    throw mapWriteError(causeOf(error));
  });
  return (claimed?.affected ?? 0) > 0;
}
