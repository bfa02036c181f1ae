import type { FieldType, TableSchema } from '../schema/model.ts';
import { isHidden, isLog } from '../schema/system-tables.ts';
import { columnFields } from '../storage/column-values.ts';
import type { Store } from '../storage/port.ts';
import { chunkedRows, type StoredRow } from '../storage/raw-access.ts';

/** In logs and sessions only file fields count: a mention in their texts does not keep a file. */
const isLogOrSession = (className: string) => isLog(className) || className === '_Session';

/** Types whose values may contain the name of a file. */
const textTypes: ReadonlySet<FieldType> = new Set(['String', 'HTML/XML', 'Array', 'Object', 'File', 'PrivateFile']);

const fileTypes: ReadonlySet<FieldType> = new Set(['File', 'PrivateFile']);

/** A file id is 32 of these digits, which neither JSON nor percent-encoding changes. Adjacent text may extend the run. */
const digits = /[0-9a-f]{32,}/g;
const ID_LENGTH = 32;

/**
 * Yields all strings in the records of a system that may be ids of files; duplicates are possible.
 * @param read called with the number of records read, per chunk
 */
export async function* mentionedIds(store: Store, read: (records: number) => void): AsyncGenerator<string> {
  await store.whenCurrent();
  for (const className of store.schema().tables.keys()) if (!isHidden(className)) yield* idsIn(store, className, read);
}

/** Returns the number of records that `mentionedIds` reads. */
export async function mentioningRecords(store: Store): Promise<number> {
  await store.whenCurrent();
  let records = 0;
  for (const table of store.schema().tables.values())
    if (!isHidden(table.className) && textColumns(table).length > 0) records += await store.raw.count(table);
  return records;
}

async function* idsIn(store: Store, className: string, read: (records: number) => void): AsyncGenerator<string> {
  let place = 0;
  for (;;) {
    const table = store.schema().tables.get(className);
    if (!table) return;
    const columns = textColumns(table);
    if (columns.length === 0) return;
    try {
      for await (const rows of chunkedRows(store.raw, table, place)) {
        for (const row of rows) yield* idsOf(row, columns);
        place = rows.at(-1)?.[0] ?? place;
        read(rows.length);
      }
      return;
    } catch (error) {
      // Retry if the schema has changed, because a column or the table may have been removed meanwhile.
      await store.whenCurrent();
      if (store.schema().tables.get(className) === table) throw error;
    }
  }
}

/** Returns a function that yields all strings in a stored row of a table that may be ids of files; duplicates are possible. */
export function fileIdsOf(table: TableSchema): (row: StoredRow) => Generator<string> {
  const columns = textColumns(table);
  return (row) => idsOf(row, columns);
}

/** Indexes of the text columns in a stored row, after its position. */
function textColumns(table: TableSchema): number[] {
  const types = isLogOrSession(table.className) ? fileTypes : textTypes;
  return columnFields(table).flatMap(({ type }, at) => (types.has(type) ? [at + 1] : []));
}

function* idsOf(row: StoredRow, columns: readonly number[]): Generator<string> {
  for (const at of columns) {
    const value = row[at];
    if (typeof value !== 'string') continue;
    for (const [run] of value.matchAll(digits))
      for (let start = 0; start + ID_LENGTH <= run.length; start++) yield run.slice(start, start + ID_LENGTH);
  }
}
