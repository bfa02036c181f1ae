import type { TableSchema } from '../../../schema/model.ts';
import { quotedName as quote } from '../sql/names.ts';

/** Limit in KB of a GIN index's unsorted pending list. With a larger one, as after a bulk load, the planner prefers a scan of the whole table. */
export const pendingList = 'WITH (gin_pending_list_limit = 128)';

/** Returns the quoted, schema-qualified name of a table or an index. */
export const qualified = (schemaName: string, name: string): string => `${quote(schemaName)}.${quote(name)}`;

/** Returns the SQL name of an index that has this name in the schema. */
export const userIndex = ({ sqlName }: Pick<TableSchema, 'sqlName'>, name: string): string => `i~${sqlName}~${name}`;

/** Returns the statement that drops such an index if it exists. */
export function dropIndex(schemaName: string, table: TableSchema, name: string): string {
  return `DROP INDEX IF EXISTS ${qualified(schemaName, userIndex(table, name))}`;
}
