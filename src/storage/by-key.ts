import type { TableSchema, UniqueIndex } from '../schema/model.ts';
import type { StoredValue } from '../values/types/type.ts';

/** A record found by a unique index. */
export interface KeyedRecord {
  readonly objectId: string;
  /** Milliseconds since 1970. */
  readonly updatedAt: number;
  /** Of the fields of the index, as the record has them. */
  readonly values: readonly StoredValue[];
}

/** Reads by unique indexes. */
export interface ReadsByKey {
  /**
   * Finds records by the values of a unique index, in the index's form. For callers that act for the service: it checks no rights.
   * @param table as the current schema has it
   * @param keys of at most a thousand records, each with the values of the fields of the index, none of them absent
   * @returns in the order of the keys; `null` where no record has one
   * @throws SchemaChanged if the table no longer has the index
   */
  findByKey(
    table: TableSchema,
    index: UniqueIndex,
    keys: readonly (readonly StoredValue[])[],
  ): Promise<readonly (KeyedRecord | null)[]>;
}
