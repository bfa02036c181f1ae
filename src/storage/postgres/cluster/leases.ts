import type { Statement } from '../../sql/writer.ts';
import type { Database } from '../connection/database.ts';
import { causeOf, ofWrite } from '../connection/map-error.ts';
import { quotedName } from '../sql/names.ts';

const leases = (schemaName: string) => `${quotedName(schemaName)}.rds_claims`;

/** The table of periodic jobs and when each is next due. */
export function leaseStatements(schemaName: string): Statement[] {
  const text = `CREATE TABLE ${leases(schemaName)} (job text COLLATE "C" PRIMARY KEY, "nextAt" bigint NOT NULL)`;
  return [{ text, params: [] }];
}

/** The server's clock, which all processes share, in milliseconds since 1970. */
const now = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

/**
 * Takes a periodic job of a system on, where no process has for so long. One that another process is taking on is passed over.
 * @param every milliseconds
 */
export async function takeLease(database: Database, schemaName: string, job: string, every: number): Promise<boolean> {
  const table = leases(schemaName);
  const statements = [
    { text: `INSERT INTO ${table} (job, "nextAt") VALUES ($1, 0) ON CONFLICT DO NOTHING`, params: [job] },
    {
      text: `UPDATE ${table} SET "nextAt" = ${now} + $2::bigint
        WHERE job = (SELECT job FROM ${table} WHERE job = $1 AND "nextAt" <= ${now} FOR UPDATE SKIP LOCKED)`,
      params: [job, every],
    },
  ];
  const [, claimed] = await database.atomically(statements).catch((error) => {
    throw ofWrite(causeOf(error));
  });
  return (claimed?.affected ?? 0) > 0;
}
