import type { Schema, TableSchema } from '../schema/model.ts';
import type { RowGuard } from './grant.ts';

/** What a caller may read of the records of one table. */
export interface ReadableTable {
  readonly table: TableSchema;
  /** `null`: every record. */
  readonly rows: RowGuard | null;
  /** Fields that the caller does not see, except in the records of their guard. */
  readonly hidden: ReadonlyMap<string, RowGuard | null>;
  /** Whether the caller sees log rows about deleted records: only their ACL is kept, so other guards cannot be checked. */
  readonly seesDeleted: boolean;
}

/** What a caller may read of the tables whose values are copied into logs (`TableSchema.isCopied`), by class. */
export interface ReadableTables {
  readonly tables: ReadonlyMap<string, ReadableTable>;
  /** The table that records deletions with the ACL of the record; `null` if there is none. */
  readonly deletions: TableSchema | null;
  /** The caller's names in ACLs. */
  readonly identities: readonly string[];
}

/** Returns the tables of a schema whose values are copied into logs. */
export function copiedTables(schema: Schema): TableSchema[] {
  return [...schema.tables.values()].filter((table) => table.isCopied);
}
