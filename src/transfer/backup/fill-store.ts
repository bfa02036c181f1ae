import { isRefusal } from '../../errors/fail.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { SchemaChange } from '../../schema/change.ts';
import type { Schema } from '../../schema/model.ts';
import { isSameSchema } from '../../schema/replay.ts';
import { columnFields } from '../../storage/column-values.ts';
import type { Store } from '../../storage/port.ts';
import { RowsRefused } from '../../storage/raw-access.ts';
import { checksumOf } from '../migrate/checksum.ts';
import { type Part, partIn } from '../migrate/copy.ts';
import { schemaBatches } from '../migrate/schema-batches.ts';
import type { PartReader } from './archive-reader.ts';
import type { ManifestPart } from './manifest.ts';
import { storedMembers, storedRows } from './row-lines.ts';
import { inTwoSteps, type SchemaPart } from './schema-part.ts';

/** Progress events of a restore. */
export interface RestoreEvents {
  /** @param records number written so far, out of `of` */
  adding(what: string, records: number, of: number): void;
  comparing(what: string, records: number, of: number): void;
  /** Number of files written so far. */
  files(files: number): void;
}

/** Fills the store of a restored system, part by part. */
export class StoreFilling {
  readonly #store: Store;
  readonly #events: RestoreEvents;
  readonly #total: number;
  #expected: Schema | undefined;
  #late: readonly SchemaChange[] = [];
  /** Parts written so far, with their manifest entries. */
  readonly #filled: { readonly target: Part; readonly said: ManifestPart }[] = [];
  #records = 0;
  /** By part: builds the indexes that were left out while rows were added. */
  readonly #indexes = new Map<string, () => Promise<void>>();

  /** @param total number of records in the backup */
  constructor(store: Store, total: number, events: RestoreEvents) {
    this.#store = store;
    this.#total = total;
    this.#events = events;
  }

  /** Creates the tables; indexes follow in `finish`, when all rows are present. @throws OperatorError if the engine cannot create them */
  async makeTables({ changes, schema }: SchemaPart): Promise<void> {
    const { before, after } = inTwoSteps(changes);
    for (const batch of schemaBatches(before)) await this.#change(batch);
    this.#expected = schema;
    this.#late = after;
  }

  /** Adds the rows of a table or the members of a Relation. @throws OperatorError for a damaged part */
  async add(reader: PartReader, of: Part): Promise<void> {
    await this.#add(reader, partIn(this.#store, of)).catch(refusedAs(reader.part.name));
  }

  async #add({ part, bytes }: PartReader, target: Part): Promise<void> {
    const { raw } = this.#store;
    const { className } = target.table;
    if (target.kind === 'relation') {
      for await (const members of storedMembers(bytes, part.name)) await raw.addMembers(target.field, members);
    } else {
      const columns = columnFields(target.table);
      this.#indexes.set(part.name, await raw.leaveOutIndexes(target.table));
      // Two batches concurrently, which PostgreSQL makes use of; the next one is parsed meanwhile.
      let adding = Promise.resolve();
      let before = adding;
      try {
        for await (const rows of storedRows(bytes, part.name, columns)) {
          await before;
          before = adding;
          adding = raw.addRows(target.table, rows);
          adding.catch(() => {});
          this.#records += rows.length;
          this.#events.adding(className, this.#records, this.#total);
        }
        await before;
        await adding;
      } finally {
        // No write may be in progress when the store is discarded.
        await Promise.allSettled([before, adding]);
      }
    }
    this.#filled.push({ target, said: part });
  }

  /**
   * Builds the indexes, then re-reads all rows and compares them with the backup.
   * @throws OperatorError if they differ
   */
  async finish(): Promise<void> {
    for (const [part, make] of this.#indexes) {
      this.#events.adding(`indexes of ${part}`, this.#records, this.#total);
      await make().catch(refusedAs(part));
    }
    for (const change of this.#late) await this.#change([change]);
    const expected = this.#expected;
    if (!expected || !isSameSchema(expected, this.#store.schema()))
      throw new OperatorError('the tables or fields are not those of the backup');
    let compared = 0;
    for (const { target, said } of this.#filled) {
      this.#events.comparing(target.table.className, compared, this.#total);
      const { count, hash } = await checksumOf(this.#store.raw, target);
      if (count !== said.count || hash !== said.sha256)
        throw new OperatorError(
          `${said.name}: what was restored is not the same (${count} rows, and ${said.count} in the backup)`,
        );
      if (target.kind === 'table') compared += count;
    }
  }

  async #change(changes: readonly SchemaChange[]): Promise<void> {
    await this.#store.write({ plan: () => ({ changes, mutations: [] }) }).catch((error) => {
      throw isRefusal(error) ? new OperatorError(`the engine cannot take a table of the backup: ${error.message}`) : error;
    });
  }
}

const refusedAs =
  (part: string) =>
  (error: unknown): never => {
    throw error instanceof RowsRefused ? new OperatorError(`${part}: ${error.message}`, { cause: error }) : error;
  };
