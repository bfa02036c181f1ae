import type { Field, TableSchema } from '../../../schema/model.ts';
import { storageOf } from '../../../values/index.ts';
import type { StoredValue } from '../../../values/types/type.ts';
import type { Dialect } from '../../sql/dialect.ts';
import { arrayLiteral, arrayTypes } from '../sql/arrays.ts';

/** Values of one column for many rows, as one parameter: `$1::<type>` in `unnest`. */
export interface ColumnArray {
  readonly name: string;
  readonly type: string;
  readonly literal: string;
}

/**
 * Returns the columns that many rows fill: those of the fields, and their companions for full-text search.
 * @param valuesOf returns the values of the field at a position, in the order of the rows
 */
export function columnArrays(
  table: TableSchema,
  fields: readonly Field[],
  valuesOf: (at: number) => readonly StoredValue[],
  dialect: Dialect,
): ColumnArray[] {
  const companions: ColumnArray[] = [];
  const columns = fields.map((field, at): ColumnArray => {
    const storage = storageOf(field);
    const values = valuesOf(at);
    const companion = dialect.companion(table, field);
    if (companion)
      companions.push({
        name: companion.column,
        type: 'tsvector[]',
        literal: arrayLiteral(values.map((value) => companion.of(value))),
      });
    const type = storage === 'json' ? 'json[]' : arrayTypes[storage];
    return { name: field.column, type, literal: arrayLiteral(values.map((value) => dialect.toColumn(storage, value))) };
  });
  return [...columns, ...companions];
}
