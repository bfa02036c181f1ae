import { createHash } from 'node:crypto';
import { quoted } from '../../sql/writer.ts';

/** Bytes of an identifier; PostgreSQL cuts longer ones off, and then two may be one. */
const MAX_NAME_BYTES = 63;

/** The PostgreSQL schema of the registry: all that there is outside the systems' own. */
export const registrySchema = 'rds';

/** What the names of systems' schemas begin with. */
export const systemPrefix = 'rds_';

/** The PostgreSQL schema that holds all of a system. @param place of its store */
export function schemaName(place: string): string {
  return fitting(`${systemPrefix}${place}`);
}

const HASH_LENGTH = 24;

/** Shortens an identifier to `MAX_NAME_BYTES`, with a hash at its end that keeps distinct names distinct. */
function fitting(identifier: string): string {
  if (Buffer.byteLength(identifier) <= MAX_NAME_BYTES) return identifier;
  const hash = createHash('sha256').update(identifier).digest('hex');
  return `${identifier.slice(0, MAX_NAME_BYTES - HASH_LENGTH - 1)}~${hash.slice(0, HASH_LENGTH)}`;
}

/** The place whose schema has a name; `null` of one that was shortened: it has a hash. */
export function placeNamed(schema: string): string | null {
  const isShortened = schema.length === MAX_NAME_BYTES && schema.at(-HASH_LENGTH - 1) === '~';
  return isShortened ? null : schema.slice(systemPrefix.length);
}

/** An identifier in double quotes, short enough. */
export function quotedName(identifier: string): string {
  return quoted(fitting(identifier));
}
