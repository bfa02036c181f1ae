import type { Grant } from '../../access/index.ts';
import { guardedFilter } from '../../query/index.ts';
import { readRows } from '../../records/index.ts';
import type { Store } from '../../storage/port.ts';
import { storageOf } from '../../values/index.ts';

/** Selects records by the value of a text field. */
interface StoredQuery {
  readonly className: string;
  readonly field: string;
  readonly values: readonly string[];
  readonly keys: readonly string[];
  /** Maximum number of rows; all if absent. */
  readonly limit?: number;
  /** Restricts the result to the records that the grant allows, none for `null`; all if absent. */
  readonly grant?: Grant | null;
}

/**
 * Reads records ignoring permissions on fields: the result must not reach the caller unchecked. Empty if the table has no such text field.
 */
export function unscopedRows<Row>(
  store: Store,
  { className, field: name, values, keys, grant, limit }: StoredQuery,
): Promise<Row[]> {
  return readRows<Row>(store, {
    className,
    fields: keys,
    filter({ fields }) {
      const field = fields.get(name);
      if (grant === null || !field || storageOf(field) !== 'text') return null;
      const filter = { kind: 'in', field, values } as const;
      return grant ? guardedFilter(grant, filter) : filter;
    },
    ...(limit !== undefined && { limit }),
  });
}
