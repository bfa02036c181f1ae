import type { TableSchema } from '../schema/model.ts';
import type { RawAccess, StoredRow } from './port.ts';

/** Bytes of texts that one read of stored rows comes to, some. */
export const CHUNK_BYTES = 4 * 1024 * 1024;

/** Rows of the first piece: their lengths are not known yet. */
const FIRST_CHUNK_ROWS = 10;
const MAX_CHUNK_ROWS = 5_000;

/**
 * Pieces of a table after a place, in the order of creation. They hold about as much text, however long the records are.
 * @param after a place in the order of creation; 0: from the first
 */
export async function* chunkedRows(contents: RawAccess, table: TableSchema, after: number): AsyncGenerator<readonly StoredRow[]> {
  let place = after;
  let size = FIRST_CHUNK_ROWS;
  for (;;) {
    const rows = await contents.rows(table, place, size);
    const last = rows.at(-1);
    if (!last) return;
    yield rows;
    place = last[0];
    const perRow = rows.reduce((sum, row) => sum + lengthOf(row), 0) / rows.length;
    size = Math.max(1, Math.min(MAX_CHUNK_ROWS, size * 4, Math.round(CHUNK_BYTES / perRow)));
  }
}

const lengthOf = (row: StoredRow) => row.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 8), 0);
