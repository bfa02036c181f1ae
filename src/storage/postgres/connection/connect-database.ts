import { OperatorError } from '../../../kernel/operator-error.ts';
import { Connector } from './connect.ts';
import type { Database, PoolSettings } from './database.ts';
import { Pool } from './pool.ts';
import { RecentTexts } from './prepared-statements.ts';
import { probeServer } from './probe-server.ts';

/**
 * Connects to PostgreSQL.
 * @throws OperatorError if it cannot be reached or is unsuitable: one line without secrets
 */
export async function connectDatabase(url: string, settings: PoolSettings): Promise<Database> {
  const address = await probeServer(url, settings.name);
  if (address.pooled && settings.name !== undefined)
    throw new OperatorError('DATABASE_URL: this needs PostgreSQL itself, not a pooler before it.');
  return new Pool(new Connector(address, new RecentTexts()), settings);
}
