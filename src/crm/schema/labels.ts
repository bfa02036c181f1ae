import { readRows, versionedCache } from '../../records/index.ts';
import type { Store } from '../../storage/port.ts';
import { DICTIONARY, type DictionaryRow, TABLE_ITSELF } from './dictionary.ts';

/** Labels of a table's fields by name; `TABLE_ITSELF` for the table's own. */
export type TableLabels = ReadonlyMap<string, string>;

const cached = versionedCache(DICTIONARY, (store) => readAll(store));

/** Returns the labels of all tables, ignoring permissions: callers filter. If several rows name a field, the one created first counts. */
export const allLabels = (store: Store): Promise<ReadonlyMap<string, TableLabels>> => cached(store, '');

async function readAll(store: Store): Promise<ReadonlyMap<string, TableLabels>> {
  const rows = await readRows<DictionaryRow & { readonly tblName?: string }>(store, {
    className: DICTIONARY,
    fields: ['tblName', 'field', 'value'],
    filter: () => ({ kind: 'always' }),
  });
  const labels = new Map<string, Map<string, string>>();
  for (const { tblName, field = TABLE_ITSELF, value } of rows) {
    if (tblName === undefined || value === undefined || value === '') continue;
    const ofTable = labels.get(tblName) ?? new Map<string, string>();
    labels.set(tblName, ofTable);
    if (!ofTable.has(field)) ofTable.set(field, value);
  }
  return labels;
}
