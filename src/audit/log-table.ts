import { memoByObject } from '../kernel/memo.ts';
import type { Field, Schema, TableSchema } from '../schema/model.ts';
import type { Column } from './timeline.ts';

/** A log of the service's, ready for rows. */
export interface LogTable {
  readonly table: TableSchema;
  /** Those of the columns, in their order: one statement for all rows. */
  readonly fields: readonly Field[];
}

/**
 * Makes a finder of a log.
 * @param columns that a row needs
 * @returns finds it in a schema; `null` where that has none that can hold a row. Remembered for as long as the table stays
 */
export function logTableOf(className: string, columns: readonly Column[]): (schema: Schema) => LogTable | null {
  const isFit = (field: Field | undefined, at: number): field is Field => field !== undefined && field.type === columns[at]?.[1];
  const logOf = memoByObject((table: TableSchema): LogTable | null => {
    const fields = columns.map(([name]) => table.fields.get(name));
    return fields.every(isFit) ? { table, fields } : null;
  });
  return (schema) => {
    const table = schema.tables.get(className);
    return table ? logOf(table) : null;
  };
}
