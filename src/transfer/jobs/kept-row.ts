import type { JsonValue } from '../../kernel/json.ts';
import type { SourceRow } from '../import/columns/row.ts';

const USERS = '_User';

/** What signs a user in. */
const secrets: ReadonlySet<string> = new Set(['password', 'bcryptPassword', 'sessionToken', 'authData']);

/** Servers that keep users call the rest of it, such as hashes of passwords, by names of this beginning. */
const isSecret = (name: string): boolean => secrets.has(name) || name.startsWith('_');

/**
 * A rejected row as it is kept beside its job: of users without what signs them in, whatever its columns are called.
 * @param className the table that the row is for
 * @returns the row as it stands in the file; `null` for one of a user in which that cannot be told apart
 */
export function keptRow(row: SourceRow, className: string): JsonValue {
  return className === USERS ? row.told(isSecret) : row.told();
}
