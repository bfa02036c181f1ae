import type { FieldType, TableSchema } from '../schema/model.ts';
import { isHidden } from '../schema/system-tables.ts';
import { columnFields } from '../storage/columns.ts';
import { pieces } from '../storage/pieces.ts';
import type { Store, StoredRow } from '../storage/port.ts';

/** Tables that tell of what was, and sessions: a file that nothing else mentions is not kept for them. */
const passedOver: ReadonlySet<string> = new Set(['_Timeline', '_RequestLog', '_GeneralLogs', '_Session']);
const isPassedOver = (className: string) => passedOver.has(className) || className.startsWith('_syslog') || isHidden(className);

/** Types whose values may hold a file's name. */
const textual: ReadonlySet<FieldType> = new Set(['String', 'HTML/XML', 'Array', 'Object', 'File', 'PrivateFile']);

/** How a name begins. Neither JSON nor percent-encoding writes it in another way. */
const nameStart = /[0-9a-f]{32}(?=_)/g;

/** All ids that begin a file's name somewhere in the records of a system, some of them many times. */
export async function* mentionedIds(store: Store): AsyncGenerator<string> {
  await store.whenCurrent();
  for (const className of store.schema().tables.keys()) if (!isPassedOver(className)) yield* idsIn(store, className);
}

async function* idsIn(store: Store, className: string): AsyncGenerator<string> {
  let place = 0;
  for (;;) {
    const table = store.schema().tables.get(className);
    if (!table) return;
    const columns = textColumns(table);
    if (columns.length === 0) return;
    try {
      for await (const rows of pieces(store.contents, table, place)) {
        for (const row of rows) yield* idsOf(row, columns);
        place = rows.at(-1)?.[0] ?? place;
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
  return columnFields(table).flatMap(({ type }, at) => (textual.has(type) ? [at + 1] : []));
}

function* idsOf(row: StoredRow, columns: readonly number[]): Generator<string> {
  for (const at of columns) {
    const value = row[at];
    if (typeof value !== 'string') continue;
    for (const [id] of value.matchAll(nameStart)) yield id;
  }
}
