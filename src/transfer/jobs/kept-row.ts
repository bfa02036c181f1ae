import { isJsonObject, type JsonObject, type JsonValue } from '../../kernel/json.ts';
import type { SourceRow } from '../import/columns/row.ts';

const USERS = '_User';
const PASSWORD = 'password';

/**
 * A rejected row as it is kept beside its job: of users without the password, whatever its column is called.
 * @param className the table that the row is for
 * @returns the row as it stands in the file; `null` for one of a user that cannot be read: where its password stands is not known
 */
export function keptRow(row: SourceRow, className: string): JsonValue {
  const told = row.told();
  if (className !== USERS) return told;
  const body = bodyOf(row);
  if (body === null || !isJsonObject(told)) return null;
  const { [PASSWORD]: password } = body;
  return Object.fromEntries(Object.entries(told).filter(([name, value]) => name !== PASSWORD && value !== password));
}

/** @returns `null` for a row that is refused as it is read */
function bodyOf(row: SourceRow): JsonObject | null {
  try {
    return row.read().body;
  } catch {
    return null;
  }
}
