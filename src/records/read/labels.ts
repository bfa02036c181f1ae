import type { Filter } from '../../query/model/filter.ts';
import type { FieldLabels } from '../../schema/describe.ts';
import type { TableSchema } from '../../schema/model.ts';
import type { Store } from '../../storage/port.ts';
import { readRows } from './system-reads.ts';

/** Labels by table, then by field. */
export type Labels = ReadonlyMap<string, FieldLabels>;

interface LabelRow {
  readonly tblName?: string;
  readonly field?: string;
  readonly value?: string;
}

/**
 * Reads the labels of fields from `_Dictionary`. Of several rows for a field the one created first counts.
 * Reference: system-tables.md#_dictionary.
 * @param className the table whose labels are wanted; left out: all tables
 */
export async function readLabels(store: Store, className?: string): Promise<Labels> {
  const labels = new Map<string, Map<string, string>>();
  const rows = await readRows<LabelRow>(store, {
    className: '_Dictionary',
    fields: ['tblName', 'field', 'value'],
    filter: (dictionary) => labelsOf(dictionary, className),
  });
  for (const row of rows) addLabel(labels, row);
  return labels;
}

/** Returns `null` if `_Dictionary` has lost the field `tblName`. */
function labelsOf(dictionary: TableSchema, className: string | undefined): Filter | null {
  const field = dictionary.fields.get('tblName');
  if (!field) return null;
  return className === undefined ? { kind: 'always' } : { kind: 'compare', field, op: 'eq', value: className };
}

function addLabel(labels: Map<string, Map<string, string>>, { tblName, field, value }: LabelRow): void {
  if (tblName === undefined || field === undefined || value === undefined) return;
  const ofTable = labels.get(tblName) ?? new Map<string, string>();
  labels.set(tblName, ofTable);
  if (!ofTable.has(field)) ofTable.set(field, value);
}
