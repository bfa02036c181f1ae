import { readRows } from '../../../records/index.ts';
import { fieldOf } from '../../../schema/model.ts';
import type { Store } from '../../../storage/port.ts';

/** Values per query. */
const MAX_VALUES = 500;

/** Returns which of some values of a text field are in use, with the ids of the records. */
export async function holdersOf(
  store: Store,
  className: string,
  field: string,
  values: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  if (!store.schema().tables.get(className)?.fields.has(field)) return found;
  for (let from = 0; from < values.length; from += MAX_VALUES) {
    const some = values.slice(from, from + MAX_VALUES);
    const rows = await readRows<Record<string, string>>(store, {
      className,
      fields: ['objectId', field],
      filter: (table) => ({ kind: 'in', field: fieldOf(table, field), values: some }),
    });
    for (const row of rows) found.set(row[field] as string, row.objectId as string);
  }
  return found;
}

/** Returns which of some ids exist in a table. */
export async function knownIds(store: Store, className: string, ids: readonly string[]): Promise<ReadonlySet<string>> {
  return new Set((await holdersOf(store, className, 'objectId', ids)).keys());
}
