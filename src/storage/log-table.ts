import { newRowId } from '../kernel/ids.ts';
import { memoByObject } from '../kernel/memo.ts';
import type { Field, FieldType, Schema, TableSchema } from '../schema/model.ts';
import type { StoredValue } from '../values/index.ts';

/** A column that a row of a log needs. */
export type Column = readonly [name: string, type: FieldType];

/** The columns that every row of a log begins with. */
export const ownColumns: readonly Column[] = [
  ['objectId', 'String'],
  ['createdAt', 'Date'],
  ['updatedAt', 'Date'],
  ['createdBy', 'Pointer'],
  ['updatedBy', 'Pointer'],
];

/**
 * Values of `ownColumns` for a new row. The author is always master (system-tables.md#_timeline).
 * @param at milliseconds since 1970
 * @param objectId the row's id, if it must be known beforehand
 */
export const ownValues = (at: number, objectId = newRowId(at)): StoredValue[] => [objectId, at, at, 'master', 'master'];

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
