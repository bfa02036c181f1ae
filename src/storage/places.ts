import { randomBytes } from 'node:crypto';

/**
 * Where a system's store and files lie: under its application id, or, of one that came into force in exchange for another of the same id, under
 * that id with a mark that no application id has. Names of folders, of parts of S3 keys, and of PostgreSQL schemas that need no shortening.
 */
export const placePattern = /^[A-Za-z0-9_-]{1,64}(~[0-9a-f]{10})?$/;

/** Characters of the application id, so that the name of the schema is not shortened. */
const MAX_KEPT_LENGTH = 48;

/** A new name beside an application id: of a place, or of a row of the registry that was put aside in exchange. */
export function nameBeside(appId: string): string {
  return `${appId.slice(0, MAX_KEPT_LENGTH)}~${randomBytes(5).toString('hex')}`;
}
