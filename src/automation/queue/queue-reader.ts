import { isPassing, isUnavailable } from '../../errors/fail.ts';
import type { Filter } from '../../query/model/filter.ts';
import { readRows } from '../../records/index.ts';
import type { TableSchema } from '../../schema/model.ts';
import type { Store } from '../../storage/port.ts';
import type { QueueRow } from './job.ts';
import { among } from './steps.ts';
import { keyFields, queueFields, queueTable } from './table.ts';

/** A read of several rows is aborted at this multiple of its target size, and repeated with fewer rows. */
const OVERRUN_FACTOR = 4;

/** Limits of one read. */
export interface Bounds {
  /** Target size of a read of contents in characters; the maximum is a multiple. */
  readonly characters: number;
  /** Maximum length of a row that counts as small, in characters. */
  readonly small: number;
  /** Rows of a read of contents. */
  readonly rows: number;
}

const defaultBounds: Bounds = { characters: 4_000_000, small: 100_000, rows: 100 };

/** The rows of a list. */
export interface Listed {
  readonly rows: readonly QueueRow[];
  /** Whether the rows include their contents, i.e. `fields`, `record` and `state`. */
  readonly haveContents: boolean;
}

/** Contents by row id. */
export interface Contents {
  /** Complete rows; `null` for a row that cannot be read even alone. Deleted rows are missing. */
  readonly rows: ReadonlyMap<string, QueueRow | null>;
  /** How many of the ids were processed, from the first on. */
  readonly upTo: number;
}

const own = ['objectId', 'createdAt', 'updatedAt'];
const keys = [...own, ...keyFields];
const whole = [...own, ...queueFields];

/**
 * Reads the queue in bounded memory, although rows may be of any length. While recent rows were small, they are read with their contents in one step;
 * otherwise keys first, then contents in batches sized by the recent rows.
 */
export class QueueReader {
  readonly #store: Store;
  readonly #bounds: Bounds;
  /** Whether all rows of the last reads were small; false until known. */
  #areSmall = false;
  /** Ids of the rows of the last list that are known to be small. */
  #small = new Set<string>();
  #listed: readonly string[] = [];
  #batchSize = 1;

  constructor(store: Store, bounds: Bounds = defaultBounds) {
    this.#store = store;
    this.#bounds = bounds;
  }

  /** Returns rows in queue order. @throws unavailable, timeout */
  async list(filter: (table: TableSchema) => Filter, limit: number): Promise<Listed> {
    if (this.#areSmall)
      try {
        const query = {
          className: queueTable,
          fields: whole,
          filter,
          limit,
          maxCharacters: OVERRUN_FACTOR * this.#bounds.characters,
        };
        const rows = await readRows<QueueRow>(this.#store, query);
        this.#list(rows, (row) => this.#isSmall(row));
        return { rows, haveContents: true };
      } catch (error) {
        this.#areSmall = false;
        this.#batchSize = 1;
        if (isPassing(error)) throw error;
      }
    const rows = await this.keys(filter, limit);
    this.#list(rows, ({ objectId }) => this.#small.has(objectId));
    return { rows, haveContents: false };
  }

  #list(rows: readonly QueueRow[], isSmall: (row: QueueRow) => boolean): void {
    this.#listed = rows.map(({ objectId }) => objectId);
    this.#small = new Set(rows.filter(isSmall).map(({ objectId }) => objectId));
    this.#areSmall = rows.length === this.#small.size;
  }

  /** Returns rows without contents, in queue order or by a field. @throws unavailable, timeout */
  keys(filter: (table: TableSchema) => Filter, limit: number, orderBy?: string): Promise<QueueRow[]> {
    const query = { className: queueTable, fields: keys, filter, limit };
    return readRows<QueueRow>(this.#store, orderBy === undefined ? query : { ...query, orderBy });
  }

  /**
   * Returns contents of rows: at least of the first, and no more than the size limit.
   * @throws unavailable, timeout
   */
  async contents(ids: readonly string[]): Promise<Contents> {
    const found = new Map<string, QueueRow | null>();
    let [upTo, characters] = [0, 0];
    while (upTo < ids.length && characters < this.#bounds.characters) {
      const batch = ids.slice(upTo, upTo + this.#batchSize);
      const rows = await this.#read(batch);
      if (rows) {
        for (const row of rows) found.set(row.objectId, row);
        characters += lengthOf(rows);
      } else if (batch.length > 1) {
        this.#batchSize = Math.floor(batch.length / 2);
        continue;
      } else found.set(batch[0] as string, null);
      upTo += batch.length;
    }
    this.#recordSizes([...found.values()]);
    return { rows: found, upTo };
  }

  /** @returns `null` if they exceed the size limit */
  async #read(ids: readonly string[]): Promise<QueueRow[] | null> {
    try {
      const filter = (table: TableSchema) => among(table, 'objectId', ids);
      const query = { className: queueTable, fields: whole, filter };
      const isOne = ids.length === 1;
      const maxCharacters = OVERRUN_FACTOR * this.#bounds.characters;
      const rows = await readRows<QueueRow>(this.#store, isOne ? query : { ...query, maxCharacters: maxCharacters });
      // The batch grows gradually, because the following rows may be longer.
      const likely = this.#bounds.characters / (Math.max(0, ...rows.map((row) => lengthOf([row]))) + 1);
      this.#batchSize = Math.max(1, Math.min(this.#bounds.rows, 8 * this.#batchSize, Math.floor(likely)));
      return rows;
    } catch (error) {
      if (isPassing(error) && (isUnavailable(error) || ids.length === 1)) throw error;
      return null;
    }
  }

  #recordSizes(rows: readonly (QueueRow | null)[]): void {
    for (const row of rows) if (row && this.#isSmall(row)) this.#small.add(row.objectId);
    const isEachSmall = rows.every((row) => row !== null && this.#isSmall(row));
    this.#areSmall = isEachSmall && this.#listed.every((id) => this.#small.has(id));
  }

  #isSmall(row: QueueRow): boolean {
    return lengthOf([row]) <= this.#bounds.small;
  }
}

/** Length of the contents of rows, in characters. */
export function lengthOf(rows: readonly QueueRow[]): number {
  return rows.reduce((sum, { fields = '', record = '', state = '' }) => sum + fields.length + record.length + state.length, 0);
}
