import { memoByObject } from '../kernel/memo.ts';
import type { Field, Schema, TableSchema } from '../schema/model.ts';
import type { Column } from './timeline.ts';

/** A log table of the service, ready to take rows. */
export interface LogTable {
  readonly table: TableSchema;
  /** The fields for the columns, in the same order, so that one statement serves all rows. */
  readonly fields: readonly Field[];
}

/**
 * Makes a lookup function for a log table.
 * @param columns the columns that every row has
 * @returns a function that finds the table in a schema; `null` if there is none or a column is missing. Cached per table object
 */
export function logTableOf(className: string, columns: readonly Column[]): (schema: Schema) => LogTable | null {
  const matchesColumn = (field: Field | undefined, at: number): field is Field =>
    field !== undefined && field.type === columns[at]?.[1];
  const logOf = memoByObject((table: TableSchema): LogTable | null => {
    const fields = columns.map(([name]) => table.fields.get(name));
    return fields.every(matchesColumn) ? { table, fields } : null;
  });
  return (schema) => {
    const table = schema.tables.get(className);
    return table ? logOf(table) : null;
  };
}
