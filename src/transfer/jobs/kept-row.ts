import type { JsonValue } from '../../kernel/json.ts';
import type { SourceRow } from '../import/columns/row.ts';

const USERS = '_User';

/** Fields that authenticate a user. */
const secrets: ReadonlySet<string> = new Set(['password', 'bcryptPassword', 'sessionToken', 'authData']);

/** Exports of other user databases name the rest, such as password hashes, with a leading underscore. */
const isSecret = (name: string): boolean => secrets.has(name) || name.startsWith('_');

/**
 * Returns a rejected row in the form stored with its job. Rows of users lose their credentials, whatever the columns are called.
 * @param className target table of the row
 * @returns the row as in the file; `null` for a row of a user whose credentials cannot be identified
 */
export function keptRow(row: SourceRow, className: string): JsonValue {
  return className === USERS ? row.toJson(isSecret) : row.toJson();
}
