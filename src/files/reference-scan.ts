import type { FieldType, TableSchema } from '../schema/model.ts';
import { isHidden, isLog } from '../schema/system-tables.ts';
import { columnFields } from '../storage/column-values.ts';
import type { Store } from '../storage/port.ts';
import { chunkedRows, type StoredRow } from '../storage/raw-access.ts';

/** A file that only texts of logs and sessions mention is not kept for them. */
const isPassing = (className: string) => isLog(className) || className === '_Session';

/** Types whose values may hold a file's name. */
const textual: ReadonlySet<FieldType> = new Set(['String', 'HTML/XML', 'Array', 'Object', 'File', 'PrivateFile']);

const holding: ReadonlySet<FieldType> = new Set(['File', 'PrivateFile']);

/** An id is 32 of these, which JSON and percent-encoding write in no other way. What comes before and after it may be like them. */
const digits = /[0-9a-f]{32,}/g;
const ID_LENGTH = 32;

/**
 * All that may be ids of files somewhere in the records of a system, some of them many times.
 * @param read told how many records were read, piece after piece
 */
export async function* mentionedIds(store: Store, read: (records: number) => void): AsyncGenerator<string> {
  await store.whenCurrent();
  for (const className of store.schema().tables.keys()) if (!isHidden(className)) yield* idsIn(store, className, read);
}

/** How many records `mentionedIds` reads. */
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
      // A column, or the table, may have gone since: the service may be at work meanwhile.
      await store.whenCurrent();
      if (store.schema().tables.get(className) === table) throw error;
    }
  }
}

/** Where in a row texts are: behind its place. */
function textColumns(table: TableSchema): number[] {
  const types = isPassing(table.className) ? holding : textual;
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
