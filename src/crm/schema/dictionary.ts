import type { JsonObject } from '../../kernel/json.ts';
import type { RecordWrite } from '../../records/index.ts';
import type { Store } from '../../storage/port.ts';
import { unscopedRows } from '../queries/unscoped-reads.ts';

/** The table of labels and business terms. Reference: system-tables.md#_dictionary. */
export const DICTIONARY = '_Dictionary';

/** A row of `_Dictionary`. The row without `field` holds the table's own label. */
export interface DictionaryRow {
  readonly objectId: string;
  readonly field?: string;
  readonly value?: string;
}

/** Returns the rows of a table in order of creation: of several for a field, the first counts. */
export function dictionaryRows(store: Store, tblName: string): Promise<DictionaryRow[]> {
  const keys = ['objectId', 'field', 'value'];
  return unscopedRows<DictionaryRow>(store, { className: DICTIONARY, field: 'tblName', values: [tblName], keys });
}

export const addRow = (body: JsonObject): RecordWrite => ({ kind: 'create', className: DICTIONARY, body });

export const changeRow = (objectId: string, body: JsonObject): RecordWrite => ({
  kind: 'update',
  className: DICTIONARY,
  objectId,
  body,
});

/** Key of the table's own label in maps of labels by field. */
export const TABLE_ITSELF = '';

/**
 * Returns the writes that set labels, without those that are set already. An empty text clears the label; its row stays.
 * @param labels by field; `TABLE_ITSELF` for the table
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

/** Value of `tblName` for business terms; no table has this name. */
export const TERMS = '_Terminology';

export const MAX_TERMS = 2_000;

/**
 * Returns the writes that replace all terms. No row is deleted, since tools delete no records (agents.md#tool-rights): the row of a term that was not
 * sent takes a new term, or the term's own name. Reference: agents.md#facts-about-single-tools.
 * @param rows in order of creation
 * @param terms without those that stand for themselves
 */
export function termWrites(rows: readonly DictionaryRow[], terms: ReadonlyMap<string, string>): RecordWrite[] {
  const writes: RecordWrite[] = [];
  const kept = new Set<string>();
  const free: DictionaryRow[] = [];
  for (const row of rows) {
    const value = row.field === undefined || kept.has(row.field) ? undefined : terms.get(row.field);
    if (row.field === undefined || value === undefined) {
      free.push(row);
      continue;
    }
    kept.add(row.field);
    if (row.value !== value) writes.push(changeRow(row.objectId, { value }));
  }
  for (const [field, value] of terms) {
    if (kept.has(field)) continue;
    const row = free.shift();
    writes.push(row ? changeRow(row.objectId, { field, value }) : addRow({ tblName: TERMS, field, value }));
  }
  for (const { objectId, field, value } of free) {
    if (value !== field) writes.push(changeRow(objectId, { value: field ?? null }));
  }
  return writes;
}

/** Returns the replacements by term, without terms that stand for themselves. @param rows in order of creation: the first of a term counts */
export function termsOf(rows: readonly Pick<DictionaryRow, 'field' | 'value'>[]): JsonObject {
  const first = new Map<string, string | undefined>();
  for (const { field, value } of rows) if (field !== undefined && !first.has(field)) first.set(field, value);
  return Object.fromEntries([...first].filter((term): term is [string, string] => term[1] !== undefined && term[1] !== term[0]));
}
