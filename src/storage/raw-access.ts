import { OperatorError } from '../kernel/operator-error.ts';
import type { Field, Schema, TableSchema } from '../schema/model.ts';
import type { StoredValue } from '../values/types/type.ts';

/** A record as stored in its table: its position in creation order, then the values of `columnFields`. Booleans are 1 and 0. */
export type StoredRow = readonly [position: number, ...values: StoredValue[]];

/** A member of a Relation: the objectId of the owning record, then its own. */
export type StoredMember = readonly [owner: string, member: string];

/** Reads of a system's stored contents, for commands. Values are not decoded, and no time limit applies. */
export interface RawReads {
  /** Returns the number of records of a table. */
  count(table: TableSchema): Promise<number>;
  /**
   * Returns the first records after a position, in creation order. The result also ends with the record that brings its texts to `CHUNK_BYTES`.
   * @param among only records with these ids, some hundreds
   */
  rows(table: TableSchema, after: number, atMost: number, among?: readonly string[]): Promise<StoredRow[]>;
  /** Returns the first members after a given one, ordered by owner and then member. @param after `null`: from the first */
  members(relation: Field, after: StoredMember | null, atMost: number): Promise<StoredMember[]>;
}

/** One consistent snapshot of a system: all that was committed before it was taken, and no later write. */
export interface StoreSnapshot extends RawReads {
  readonly schema: Schema;
}

/** Rows that a store cannot hold: two with one position or id, or a value that its column does not accept. */
export class RowsRefused extends OperatorError {}

/** Raw reads and inserts. Inserts are neither checked nor logged, and require that the caller has the store to itself. */
export interface RawAccess extends RawReads {
  /** Returns the position of the last record; 0 if there is none. */
  lastPosition(table: TableSchema): Promise<number>;
  /** Returns the last member in the order of `members`. */
  lastMember(relation: Field): Promise<StoredMember | null>;
  /**
   * Drops the indexes that every table has, if inserting many records is slower with them: each record changes pages all over an index. For a store
   * that is discarded unless it is filled completely.
   * @returns a function that creates them; it throws RowsRefused if two records have one id
   */
  leaveOutIndexes(table: TableSchema): Promise<() => Promise<void>>;
  /** Inserts records at their positions, in any order; durable when it resolves. @throws RowsRefused */
  addRows(table: TableSchema, rows: readonly StoredRow[]): Promise<void>;
  /** @throws RowsRefused */
  addMembers(relation: Field, members: readonly StoredMember[]): Promise<void>;
}

/** Approximate bytes of text in one chunk of stored rows. */
export const CHUNK_BYTES = 4 * 1024 * 1024;

/** Rows of the first chunk, whose lengths are not known yet. */
const FIRST_CHUNK_ROWS = 10;
const MAX_CHUNK_ROWS = 1_000;

/**
 * Yields a table in chunks of about the same amount of text, in creation order.
 * @param after a position in creation order; 0: from the first record
 */
export async function* chunkedRows(raw: RawReads, table: TableSchema, after: number): AsyncGenerator<readonly StoredRow[]> {
  let size = FIRST_CHUNK_ROWS;
  let reading = raw.rows(table, after, size);
  for (;;) {
    const rows = await reading;
    const last = rows.at(-1);
    if (!last) return;
    const perRow = rows.reduce((sum, row) => sum + lengthOf(row), 0) / rows.length;
    size = Math.max(1, Math.min(MAX_CHUNK_ROWS, size * 4, Math.round(CHUNK_BYTES / perRow)));
    // Read ahead while the caller processes this chunk.
    reading = raw.rows(table, last[0], size);
    reading.catch(() => {});
    yield rows;
  }
}

/** Yields the records that have one of some hundred ids, in creation order and in chunks. */
export async function* rowsAmong(
  raw: RawReads,
  table: TableSchema,
  ids: readonly string[],
): AsyncGenerator<readonly StoredRow[]> {
  for (let after = 0; ; ) {
    const rows = await raw.rows(table, after, ids.length, ids);
    const last = rows.at(-1);
    if (!last) return;
    yield rows;
    after = last[0];
  }
}

const lengthOf = (row: StoredRow) => row.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 8), 0);
