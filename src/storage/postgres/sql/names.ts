import { createHash } from 'node:crypto';
import { quoted } from '../../sql/writer.ts';

/** Bytes of an identifier; PostgreSQL cuts longer ones off, and then two may be one. */
const MAX_NAME_BYTES = 63;

/** The PostgreSQL schema of the registry: all that there is outside the systems' own. */
export const registrySchema = 'rds';

/** What the names of systems' schemas begin with. */
export const systemPrefix = 'rds_';

/** The PostgreSQL schema that holds all of a system. */
export function schemaName(appId: string): string {
  return fitting(`${systemPrefix}${appId}`);
}

/** Shortens an identifier to `MAX_NAME_BYTES`, with a hash at its end that keeps distinct names distinct. */
function fitting(identifier: string): string {
  if (Buffer.byteLength(identifier) <= MAX_NAME_BYTES) return identifier;
  const hash = createHash('sha256').update(identifier).digest('hex');
  return `${identifier.slice(0, MAX_NAME_BYTES - 25)}~${hash.slice(0, 24)}`;
}

/** An identifier in double quotes, short enough. */
export function quotedName(identifier: string): string {
  return quoted(fitting(identifier));
}
