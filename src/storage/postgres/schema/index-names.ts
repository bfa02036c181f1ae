import type { TableSchema } from '../../../schema/model.ts';
import { quotedName as quote } from '../sql/names.ts';

/**
 * KB of new entries that a GIN index keeps unsorted. With more of them, as after a bulk load, the planner goes through the whole table
 * instead.
 */
export const pendingList = 'WITH (gin_pending_list_limit = 128)';

/** A table or an index of a system, quoted. */
export const qualified = (schemaName: string, name: string): string => `${quote(schemaName)}.${quote(name)}`;

/** An index that was asked for by this name. */
export const userIndex = ({ sqlName }: Pick<TableSchema, 'sqlName'>, name: string): string => `i~${sqlName}~${name}`;

/** The statement that takes such an index away, where it is there. */
export function dropIndex(schemaName: string, table: TableSchema, name: string): string {
  return `DROP INDEX IF EXISTS ${qualified(schemaName, userIndex(table, name))}`;
}
