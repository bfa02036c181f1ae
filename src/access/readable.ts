import type { Schema, TableSchema } from '../schema/model.ts';
import type { RowGuard } from './grant.ts';

/** What a caller may read of the records of one table. */
export interface ReadableTable {
  readonly table: TableSchema;
  /** `null`: every record. */
  readonly rows: RowGuard | null;
  /** Fields that he does not see, each but in the records that its guard names. */
  readonly hidden: ReadonlyMap<string, RowGuard | null>;
  /** Whether he hears of records that are gone: the ACL that they had is kept, and nothing else that could tell whether he may. */
  readonly hearsOfGone: boolean;
}

/** What a caller may read of the tables whose values logs have (`TableSchema.isCopied`), by class. */
export interface ReadableTables {
  readonly tables: ReadonlyMap<string, ReadableTable>;
  /** Where deletions are noted, with the ACL that the record had; `null` where that is not kept. */
  readonly deletions: TableSchema | null;
  /** The caller, as ACLs name him. */
  readonly identities: readonly string[];
}

/** The tables of a schema whose values logs have. */
export function copiedTables(schema: Schema): TableSchema[] {
  return [...schema.tables.values()].filter((table) => table.isCopied);
}
