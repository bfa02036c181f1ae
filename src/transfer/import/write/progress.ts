import { randomUUID } from 'node:crypto';
import { type Act, insertAct } from '../../../acts/index.ts';
import { OperatorError } from '../../../kernel/operator-error.ts';
import type { Filter } from '../../../query/model/filter.ts';
import { readRow, readRows } from '../../../records/index.ts';
import { fieldOf, type Schema, type TableSchema, tableOf } from '../../../schema/model.ts';
import { assignmentsOf, columnsOf } from '../../../storage/column-values.ts';
import type { Mutation, Store } from '../../../storage/port.ts';

/** The hidden table of running and finished imports. */
export const importTable = '_ImportJob';

/** Progress of an import. */
export interface Counts {
  /** Rows handled, including rejected ones. */
  readonly done: number;
  readonly created: number;
  readonly updated: number;
  readonly rejected: number;
  /** Bytes of the stored rejected rows. */
  readonly rejectedBytes: number;
}

export const nothingDone: Counts = { done: 0, created: 0, updated: 0, rejected: 0, rejectedBytes: 0 };

const countNames = ['done', 'created', 'updated', 'rejected', 'rejectedBytes'] as const;
const readFields = ['objectId', 'run', 'state', 'options', ...countNames] as const;

interface Row extends Partial<Counts> {
  readonly run?: string;
  readonly state?: string;
  readonly options?: string;
}

/**
 * Progress of an import, stored in a row that each group updates in its own commit, provided that no other process has taken over the import.
 */
export class ImportProgress {
  readonly #store: Store;
  readonly #id: string;
  /** Identifies this execution. */
  readonly #run: string;
  /** Progress at the start of this execution. */
  readonly counts: Counts;

  private constructor(store: Store, id: string, run: string, counts: Counts) {
    this.#store = store;
    this.#id = id;
    this.#run = run;
    this.counts = counts;
  }

  /** Starts an import from the beginning, discarding earlier progress. @param options compared when the import is continued @param act its row in the log */
  static async begin(store: Store, id: string, className: string, options: string, act: Act): Promise<ImportProgress> {
    const run = randomUUID();
    const at = Date.now();
    await store.write({
      plan(schema) {
        const table = tableOf(schema, importTable);
        const row = {
          objectId: id,
          createdAt: at,
          updatedAt: at,
          kind: 'command',
          objectClass: className,
          options,
          run,
          state: 'running',
        };
        const values = columnsOf(table, { ...row, ...nothingDone });
        return {
          changes: [],
          mutations: [
            { kind: 'deleteAll', table, filter: equal(table, { objectId: id }) },
            { kind: 'insert', table, values },
            ...insertAct(schema, act),
          ],
        };
      },
    });
    return new ImportProgress(store, id, run, nothingDone);
  }

  /**
   * Takes over an import from its previous process.
   * @returns `null` if it was never started; `isOver` if it is complete
   * @throws OperatorError if it was started with other options
   */
  static async resume(
    store: Store,
    id: string,
    options: string,
  ): Promise<{ readonly progress: ImportProgress; readonly isOver: boolean } | null> {
    const before = await readRow<Row>(store, importTable, readFields, id);
    if (!before) return null;
    if (before.options !== options)
      throw new OperatorError('the import was begun with other options; it goes on with the same, or anew without --continue');
    const run = randomUUID();
    await store.write({ plan: (schema) => ({ changes: [], mutations: [update(schema, id, { run, updatedAt: Date.now() })] }) });
    // Re-read: the previous process may have made progress before the take-over.
    const row = (await readRow<Row>(store, importTable, readFields, id)) ?? {};
    return { progress: new ImportProgress(store, id, run, countsOf(row)), isOver: row.state === 'done' };
  }

  /**
   * Returns the number of rows that an interrupted or running import by command into a table has handled, of any file, unless an import was completed
   * since; else
   * 0.
   */
  static async unfinished(store: Store, className: string): Promise<number> {
    const filter = (table: TableSchema): Filter => equal(table, { kind: 'command', objectClass: className });
    const fields = ['state', 'done'];
    const rows = await readRows<Row>(store, { className: importTable, fields, filter, orderBy: 'updatedAt' });
    const last = rows.at(-1);
    return last?.state === 'running' ? (last.done ?? 0) : 0;
  }

  /**
   * Records the progress of a group in its own commit.
   * @throws objectNotFound (101) at the commit if the stored progress differs: another process has taken over, or an earlier commit completed late
   */
  async record(within: Store, { done }: Counts, counts: Counts): Promise<void> {
    const values = { ...counts, updatedAt: Date.now() };
    await within.write({
      plan: (schema) => ({ changes: [], mutations: [update(schema, this.#id, values, { run: this.#run, done })] }),
    });
  }

  /** Returns whether a group whose outcome is unknown was committed. @throws if that cannot be determined */
  async wasCommitted(counts: Counts): Promise<boolean> {
    const row = await readRow<Row>(this.#store, importTable, readFields, this.#id);
    return row?.run === this.#run && (row.done ?? 0) >= counts.done;
  }

  /** Marks the import as complete. */
  async finish(): Promise<void> {
    const at = Date.now();
    const done = { state: 'done', updatedAt: at, finishedAt: at };
    await this.#store.write({
      plan: (schema) => ({ changes: [], mutations: [update(schema, this.#id, done, { run: this.#run })] }),
    });
  }
}

const countsOf = (row: Row): Counts => ({
  done: row.done ?? 0,
  created: row.created ?? 0,
  updated: row.updated ?? 0,
  rejected: row.rejected ?? 0,
  rejectedBytes: row.rejectedBytes ?? 0,
});

const equal = (table: TableSchema, values: Readonly<Record<string, string | number>>): Filter => ({
  kind: 'and',
  items: Object.entries(values).map(([name, value]) => ({ kind: 'compare', field: fieldOf(table, name), op: 'eq', value })),
});

/** @param expected values that the row must have */
function update(
  schema: Schema,
  objectId: string,
  values: Readonly<Record<string, string | number>>,
  expected: Readonly<Record<string, string | number>> = {},
): Mutation {
  const table = tableOf(schema, importTable);
  return {
    kind: 'update',
    table,
    objectId,
    guard: null,
    ...(Object.keys(expected).length > 0 && { condition: equal(table, expected) }),
    assignments: assignmentsOf(table, values),
    returning: [],
  };
}
