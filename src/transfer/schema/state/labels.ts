import { readRows } from '../../../records/index.ts';
import type { Store } from '../../../storage/port.ts';
import { type LabelsPart, sorted, TABLE_ITSELF } from '../model/snapshot.ts';

/** The table of labels (system-tables.md#_dictionary). */
export const DICTIONARY = '_Dictionary';

/** The rows of a label in order of creation; the first with a value counts. */
export interface StoredLabel {
  readonly label: string;
  /** The row that counts, with its `updatedAt` in milliseconds since 1970. */
  readonly objectId: string;
  readonly version: number;
  /** The other rows of the same label. */
  readonly others: readonly string[];
}

/** By table, then by field. */
export type StoredLabels = ReadonlyMap<string, ReadonlyMap<string, StoredLabel>>;

interface Row {
  readonly objectId: string;
  readonly updatedAt: string;
  readonly tblName?: string;
  readonly field?: string;
  readonly value?: string;
}

/** Reads all labels. */
export async function readStoredLabels(store: Store): Promise<StoredLabels> {
  const rows = await readRows<Row>(store, {
    className: DICTIONARY,
    fields: ['objectId', 'updatedAt', 'tblName', 'field', 'value'],
    filter: () => ({ kind: 'always' }),
  });
  const labels = new Map<string, Map<string, StoredLabel>>();
  for (const { objectId, updatedAt, tblName, field = TABLE_ITSELF, value } of rows) {
    if (tblName === undefined || tblName === '' || value === undefined || value === '') continue;
    const ofTable = labels.get(tblName) ?? new Map<string, StoredLabel>();
    labels.set(tblName, ofTable);
    const first = ofTable.get(field);
    if (first) ofTable.set(field, { ...first, others: [...first.others, objectId] });
    else ofTable.set(field, { label: value, objectId, version: Date.parse(updatedAt), others: [] });
  }
  return labels;
}

/** Returns labels in the form of a snapshot. */
export const labelsOf = (stored: StoredLabels): ReadonlyMap<string, LabelsPart> =>
  new Map(sorted(stored).map(([table, fields]) => [table, new Map(sorted(fields).map(([field, { label }]) => [field, label]))]));
