import { isRefusal } from '../../errors/fail.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { SchemaChange } from '../../schema/change.ts';
import type { Schema, TableSchema } from '../../schema/model.ts';
import { isSameSchema } from '../../schema/replay.ts';
import type { Store } from '../../storage/port.ts';
import { RowsRefused, type StoredMember, type StoredRow } from '../../storage/raw-access.ts';
import type { Part } from '../migrate/copy.ts';
import { schemaBatches } from '../migrate/schema-batches.ts';
import { inTwoSteps } from './schema-part.ts';

type RelationPart = Extract<Part, { kind: 'relation' }>;

/** Fills a store that was just created with the tables and rows of another one: indexes are built when all rows are present. */
export class NewStore {
  readonly #store: Store;
  readonly #adding: (what: string, records: number) => void;
  #expected: Schema | undefined;
  #late: readonly SchemaChange[] = [];
  #records = 0;
  /** By part: builds the indexes that were left out while rows were added. */
  readonly #indexes = new Map<string, () => Promise<void>>();

  /** @param adding called with the table and the number of records added so far */
  constructor(store: Store, adding: (what: string, records: number) => void) {
    this.#store = store;
    this.#adding = adding;
  }

  get records(): number {
    return this.#records;
  }

  /** Creates the tables. @param expected the schema that the changes make @throws OperatorError if the engine cannot create them */
  async makeTables(changes: readonly SchemaChange[], expected: Schema): Promise<void> {
    const { before, after } = inTwoSteps(changes);
    for (const batch of schemaBatches(before)) await this.#change(batch);
    this.#expected = expected;
    this.#late = after;
  }

  /**
   * Adds rows of a table; may be called again for the same table.
   * @param name of the part, for messages
   * @throws RowsRefused as OperatorError
   */
  async addRows(name: string, table: TableSchema, batches: AsyncIterable<readonly StoredRow[]>): Promise<void> {
    const { raw } = this.#store;
    if (!this.#indexes.has(name)) this.#indexes.set(name, await raw.leaveOutIndexes(table));
    // Two batches concurrently, which PostgreSQL makes use of; the next one is prepared meanwhile.
    let adding = Promise.resolve();
    let before = adding;
    try {
      for await (const rows of batches) {
        await before;
        before = adding;
        adding = raw.addRows(table, rows);
        adding.catch(() => {});
        this.#records += rows.length;
        this.#adding(table.className, this.#records);
      }
      await before;
      await adding;
    } catch (error) {
      refusedAs(name)(error);
    } finally {
      // No write may be in progress when the store is discarded.
      await Promise.allSettled([before, adding]);
    }
  }

  /** Adds members of a Relation. @throws as `addRows` */
  async addMembers(name: string, { field }: RelationPart, batches: AsyncIterable<readonly StoredMember[]>): Promise<void> {
    for await (const members of batches) await this.#store.raw.addMembers(field, members).catch(refusedAs(name));
  }

  /** Builds the indexes. @throws OperatorError if the rows contradict one, or the schema is not the expected one */
  async finish(): Promise<void> {
    for (const [part, make] of this.#indexes) {
      this.#adding(`indexes of ${part}`, this.#records);
      await make().catch(refusedAs(part));
    }
    for (const change of this.#late) await this.#change([change]);
    if (!this.#expected || !isSameSchema(this.#expected, this.#store.schema()))
      throw new OperatorError('the tables or fields are not those of the original');
  }

  async #change(changes: readonly SchemaChange[]): Promise<void> {
    await this.#store.write({ plan: () => ({ changes, mutations: [] }) }).catch((error) => {
      throw isRefusal(error) ? new OperatorError(`the engine cannot take a table of it: ${error.message}`) : error;
    });
  }
}

const refusedAs =
  (part: string) =>
  (error: unknown): never => {
    throw error instanceof RowsRefused ? new OperatorError(`${part}: ${error.message}`, { cause: error }) : error;
  };
