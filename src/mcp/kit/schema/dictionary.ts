import type { JsonObject } from '../../../kernel/json.ts';
import type { RecordWrite } from '../../../records/index.ts';
import type { Store } from '../../../storage/port.ts';
import { storedRows } from '../reading/stored.ts';

/** The table of labels and business terms (SPEC "Other system tables"). */
export const DICTIONARY = '_Dictionary';

/** A row of it. A table's own label is in a row without `field`. */
export interface DictionaryRow {
  readonly objectId: string;
  readonly field?: string;
  readonly value?: string;
}

/** The rows of a table, in the order of creation: of several for a field the first counts. */
export function dictionaryRows(store: Store, tblName: string): Promise<DictionaryRow[]> {
  const keys = ['objectId', 'field', 'value'];
  return storedRows<DictionaryRow>(store, { className: DICTIONARY, field: 'tblName', values: [tblName], keys });
}

export const addRow = (body: JsonObject): RecordWrite => ({ kind: 'create', className: DICTIONARY, body });

export const changeRow = (objectId: string, body: JsonObject): RecordWrite => ({
  kind: 'update',
  className: DICTIONARY,
  objectId,
  body,
});

/** The field that a table's own label is of. */
export const TABLE_ITSELF = '';

/**
 * The writes that give labels, for those that are not so yet; an empty text takes a label away, its row stays.
 * @param labels by field; `TABLE_ITSELF` is the table
 */
export async function labelWrites(store: Store, tblName: string, labels: ReadonlyMap<string, string>): Promise<RecordWrite[]> {
  const known = new Map<string, DictionaryRow>();
  for (const row of await dictionaryRows(store, tblName)) {
    const field = row.field ?? TABLE_ITSELF;
    if (!known.has(field)) known.set(field, row);
  }
  const writes: RecordWrite[] = [];
  for (const [field, value] of labels) {
    const row = known.get(field);
    if ((row?.value ?? '') === value) continue;
    if (row) writes.push(changeRow(row.objectId, { value: value === '' ? null : value }));
    else writes.push(addRow({ tblName, ...(field !== TABLE_ITSELF && { field }), value }));
  }
  return writes;
}
