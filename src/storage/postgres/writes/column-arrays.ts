import type { Field, TableSchema } from '../../../schema/model.ts';
import { storageOf } from '../../../values/index.ts';
import type { StoredValue } from '../../../values/types/type.ts';
import type { Dialect } from '../../sql/dialect.ts';
import { arrayLiteral, arrayTypes } from '../sql/arrays.ts';

/** The values of one column for many rows, as one parameter: `$1::<type>` in `unnest`. */
export interface ColumnArray {
  readonly name: string;
  readonly type: string;
  readonly literal: string;
}

/**
 * The columns that many rows fill: of the fields, and those that go along with them for full text.
 * @param valuesOf the values of a field, by its place among the fields, in the order of the rows
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
