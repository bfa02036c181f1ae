import { randomBytes } from 'node:crypto';

/**
 * The location of a system's store and files: its application id, or that id plus a mark no application id can have, for a system that came into
 * force in exchange for another one with the same id. Used as names of folders, parts of S3 keys, and names of PostgreSQL schemas that need no
 * shortening.
 */
export const placePattern = /^[A-Za-z0-9_-]{1,64}(~[0-9a-f]{10})?$/;

/** Characters of the application id that are kept, so that the name of the schema need not be shortened. */
const MAX_ID_CHARS = 48;

/** Returns a new name derived from an application id, for a place or for the registry row of a system that was put aside in an exchange. */
export function nameBeside(appId: string): string {
  return `${appId.slice(0, MAX_ID_CHARS)}~${randomBytes(5).toString('hex')}`;
}
