import { OperatorError } from '../kernel/operator-error.ts';
import type { Field, Schema, TableSchema } from '../schema/model.ts';
import type { StoredValue } from '../values/types/type.ts';

/** A record as it lies in its table: its place in the order of creation, then the values of `columnFields`. Booleans are 1 and 0. */
export type StoredRow = readonly [place: number, ...values: StoredValue[]];

/** A member of a Relation: the record that has it, and its own objectId. */
export type StoredMember = readonly [owner: string, member: string];

/** What a system holds, as it lies, for commands. Nothing is decoded, and nothing is held to the time limit. */
export interface RawReads {
  /** How many records a table has. */
  count(table: TableSchema): Promise<number>;
  /** The first records after a place in the order of creation, in this order; they end, too, with that which brings their texts to `CHUNK_BYTES`. */
  rows(table: TableSchema, after: number, atMost: number): Promise<StoredRow[]>;
  /** The first members after one, by owner and then member. @param after `null`: from the first */
  members(relation: Field, after: StoredMember | null, atMost: number): Promise<StoredMember[]>;
}

/** One consistent picture of a system: all that was committed before it was taken, whatever is written meanwhile. */
export interface StoreSnapshot extends RawReads {
  readonly schema: Schema;
}

/** Rows that a store cannot have: two of one place or id, a value that its column does not take. */
export class RowsRefused extends OperatorError {}

/** The same, and additions. Nothing is checked or noted on the way. A caller that adds has the store to itself. */
export interface RawAccess extends RawReads {
  /** The place of the last record; 0 where there is none. */
  lastPlace(table: TableSchema): Promise<number>;
  /** The last of them. */
  lastMember(relation: Field): Promise<StoredMember | null>;
  /**
   * Leaves out the indexes that a table has whatever clients ask for, where adding many records is slower with them: each record changes pages
   * all over an index. For a store that is thrown away where it is not filled to its end.
   * @returns what makes them; it throws RowsRefused where two records have one id
   */
  leaveOutIndexes(table: TableSchema): Promise<() => Promise<void>>;
  /** Adds records at their places, in whatever order; durable when it resolves. @throws RowsRefused */
  addRows(table: TableSchema, rows: readonly StoredRow[]): Promise<void>;
  /** @throws RowsRefused */
  addMembers(relation: Field, members: readonly StoredMember[]): Promise<void>;
}

/** Bytes of texts that one read of stored rows comes to, some. */
export const CHUNK_BYTES = 4 * 1024 * 1024;

/** Rows of the first chunk: their lengths are not known yet. */
const FIRST_CHUNK_ROWS = 10;
const MAX_CHUNK_ROWS = 1_000;

/**
 * Chunks of a table after a place, in the order of creation. They hold about as much text, however long the records are.
 * @param after a place in the order of creation; 0: from the first
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
    // The next ones are read while these are dealt with.
    reading = raw.rows(table, last[0], size);
    reading.catch(() => {});
    yield rows;
  }
}

const lengthOf = (row: StoredRow) => row.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 8), 0);
