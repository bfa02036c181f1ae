import { createHash } from 'node:crypto';
import { quoted } from '../../sql/sql-writer.ts';

/** Maximum bytes of an identifier. PostgreSQL truncates longer ones, so that two may become equal. */
const MAX_NAME_BYTES = 63;

/** The PostgreSQL schema of the registry, which holds everything outside the systems' schemas. */
export const registrySchema = 'rds';

/** Prefix of the names of systems' schemas. */
export const systemPrefix = 'rds_';

/** Returns the PostgreSQL schema that holds all data of a system. @param place of its store */
export function schemaName(place: string): string {
  return shortened(`${systemPrefix}${place}`);
}

const HASH_LENGTH = 24;

/** Shortens an identifier to `MAX_NAME_BYTES`, with a hash at its end that keeps distinct names distinct. */
export function shortened(identifier: string): string {
  if (Buffer.byteLength(identifier) <= MAX_NAME_BYTES) return identifier;
  const hash = createHash('sha256').update(identifier).digest('hex');
  return `${identifier.slice(0, MAX_NAME_BYTES - HASH_LENGTH - 1)}~${hash.slice(0, HASH_LENGTH)}`;
}

/** Returns the place whose schema has this name; `null` if the name was shortened and contains a hash. */
export function placeNamed(schema: string): string | null {
  const isShortened = schema.length === MAX_NAME_BYTES && schema.at(-HASH_LENGTH - 1) === '~';
  return isShortened ? null : schema.slice(systemPrefix.length);
}

/** Returns an identifier in double quotes, shortened if necessary. */
export function quotedName(identifier: string): string {
  return quoted(shortened(identifier));
}
