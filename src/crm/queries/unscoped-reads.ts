import type { Grant } from '../../access/index.ts';
import { guardedFilter } from '../../query/index.ts';
import { readRows } from '../../records/index.ts';
import type { Store } from '../../storage/port.ts';
import { storageOf } from '../../values/index.ts';

/** Records by what a text field holds. */
interface StoredQuery {
  readonly className: string;
  readonly field: string;
  readonly values: readonly string[];
  readonly keys: readonly string[];
  /** At most; all where it is left out. */
  readonly limit?: number;
  /** Of a caller: only records that it gives, none for `null`; all where it is left out. */
  readonly grant?: Grant | null;
}

/**
 * Reads fields beyond every permission: the caller has to learn what is told of these records by another way. None where the table has not such
 * a field.
 */
export function storedRows<Row>(
  store: Store,
  { className, field: name, values, keys, grant, ...most }: StoredQuery,
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
    ...most,
  });
}
