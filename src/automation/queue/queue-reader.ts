import { isPassing, isUnavailable } from '../../errors/fail.ts';
import type { Filter } from '../../query/model/filter.ts';
import { readRows } from '../../records/index.ts';
import type { TableSchema } from '../../schema/model.ts';
import type { Store } from '../../storage/port.ts';
import type { QueueRow } from './job.ts';
import { among } from './steps.ts';
import { keyFields, queueFields, queueTable } from './table.ts';

/** So many times the characters that a read of several rows should bring end it: it is done again with fewer. */
const OVERRUN_FACTOR = 4;

/** How much is read at once. */
export interface Bounds {
  /** Characters that a read of contents should bring, at the most some times as many. */
  readonly characters: number;
  /** Characters of a row that is small. */
  readonly small: number;
  /** Rows of a read of contents. */
  readonly rows: number;
}

const usual: Bounds = { characters: 4_000_000, small: 100_000, rows: 100 };

/** Rows of a list. */
export interface Listed {
  readonly rows: readonly QueueRow[];
  /** Whether they have their contents, `fields`, `record` and `state`. */
  readonly areWhole: boolean;
}

/** Contents by the ids of rows. */
export interface Contents {
  /** Whole rows; `null` where one cannot be read even by itself. One that is gone is not among them. */
  readonly rows: ReadonlyMap<string, QueueRow | null>;
  /** How many of the ids were looked at, from the first. */
  readonly upTo: number;
}

const own = ['objectId', 'createdAt', 'updatedAt'];
const keys = [...own, ...keyFields];
const whole = [...own, ...queueFields];

/**
 * Reads of the queue, whose rows may be of any length. While its rows were small lately they are read with their contents at once; else without
 * them, and the contents by themselves, no more at once than rows seen lately make likely to fit.
 */
export class QueueReader {
  readonly #store: Store;
  readonly #bounds: Bounds;
  /** Whether all rows that the last reads found were small. Nobody knows at first. */
  #areSmall = false;
  /** Rows that are known to be small, of those that the last list found. */
  #small = new Set<string>();
  #listed: readonly string[] = [];
  #portion = 1;

  constructor(store: Store, bounds: Bounds = usual) {
    this.#store = store;
    this.#bounds = bounds;
  }

  /** Rows in the order of the queue. @throws unavailable, timeout */
  async list(filter: (table: TableSchema) => Filter, limit: number): Promise<Listed> {
    if (this.#areSmall)
      try {
        const query = {
          className: queueTable,
          fields: whole,
          filter,
          limit,
          mostCharacters: OVERRUN_FACTOR * this.#bounds.characters,
        };
        const rows = await readRows<QueueRow>(this.#store, query);
        this.#list(rows, (row) => this.#isSmall(row));
        return { rows, areWhole: true };
      } catch (error) {
        this.#areSmall = false;
        this.#portion = 1;
        if (isPassing(error)) throw error;
      }
    const rows = await this.keys(filter, limit);
    this.#list(rows, ({ objectId }) => this.#small.has(objectId));
    return { rows, areWhole: false };
  }

  #list(rows: readonly QueueRow[], isSmall: (row: QueueRow) => boolean): void {
    this.#listed = rows.map(({ objectId }) => objectId);
    this.#small = new Set(rows.filter(isSmall).map(({ objectId }) => objectId));
    this.#areSmall = rows.length === this.#small.size;
  }

  /** Rows without their contents, in the order of the queue or by a field. @throws unavailable, timeout */
  keys(filter: (table: TableSchema) => Filter, limit: number, orderBy?: string): Promise<QueueRow[]> {
    const query = { className: queueTable, fields: keys, filter, limit };
    return readRows<QueueRow>(this.#store, orderBy === undefined ? query : { ...query, orderBy });
  }

  /**
   * Contents of rows, at least of the first, and no more than should be held at once.
   * @throws unavailable, timeout
   */
  async contents(ids: readonly string[]): Promise<Contents> {
    const found = new Map<string, QueueRow | null>();
    let [upTo, characters] = [0, 0];
    while (upTo < ids.length && characters < this.#bounds.characters) {
      const portion = ids.slice(upTo, upTo + this.#portion);
      const rows = await this.#read(portion);
      if (rows) {
        for (const row of rows) found.set(row.objectId, row);
        characters += lengthOf(rows);
      } else if (portion.length > 1) {
        this.#portion = Math.floor(portion.length / 2);
        continue;
      } else found.set(portion[0] as string, null);
      upTo += portion.length;
    }
    this.#note([...found.values()]);
    return { rows: found, upTo };
  }

  /** @returns `null` where they are too much */
  async #read(ids: readonly string[]): Promise<QueueRow[] | null> {
    try {
      const filter = (table: TableSchema) => among(table, 'objectId', ids);
      const query = { className: queueTable, fields: whole, filter };
      const isOne = ids.length === 1;
      const most = OVERRUN_FACTOR * this.#bounds.characters;
      const rows = await readRows<QueueRow>(this.#store, isOne ? query : { ...query, mostCharacters: most });
      // Those that follow may be longer.
      const likely = this.#bounds.characters / (Math.max(0, ...rows.map((row) => lengthOf([row]))) + 1);
      this.#portion = Math.max(1, Math.min(this.#bounds.rows, 8 * this.#portion, Math.floor(likely)));
      return rows;
    } catch (error) {
      if (isPassing(error) && (isUnavailable(error) || ids.length === 1)) throw error;
      return null;
    }
  }

  #note(rows: readonly (QueueRow | null)[]): void {
    for (const row of rows) if (row && this.#isSmall(row)) this.#small.add(row.objectId);
    const isEachSmall = rows.every((row) => row !== null && this.#isSmall(row));
    this.#areSmall = isEachSmall && this.#listed.every((id) => this.#small.has(id));
  }

  #isSmall(row: QueueRow): boolean {
    return lengthOf([row]) <= this.#bounds.small;
  }
}

/** Characters of the contents of rows. */
export function lengthOf(rows: readonly QueueRow[]): number {
  return rows.reduce((sum, { fields = '', record = '', state = '' }) => sum + fields.length + record.length + state.length, 0);
}
