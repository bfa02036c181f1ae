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
import { tablesInSlices } from '../migrate/table-slices.ts';
import type { PartReader } from './archive-reader.ts';
import type { ManifestPart } from './manifest.ts';
import { storedMembers, storedRows } from './row-lines.ts';
import { inTwoSteps, type SchemaPart } from './schema-part.ts';

/** What is told in the course of a restore. */
export interface RestoreEvents {
  /** @param records of the system that are there so far, of so many */
  adding(what: string, records: number, of: number): void;
  comparing(what: string, records: number, of: number): void;
  /** Files that are there so far. */
  files(files: number): void;
}

/** The store of a system that is restored, as it is filled part by part. */
export class StoreFilling {
  readonly #store: Store;
  readonly #events: RestoreEvents;
  readonly #total: number;
  #expected: Schema | undefined;
  #late: readonly SchemaChange[] = [];
  /** What it has by now, and what the backup says of it. */
  readonly #filled: { readonly target: Part; readonly said: ManifestPart }[] = [];
  #records = 0;
  /** Of a part whose indexes were left out what makes them. */
  readonly #indexes = new Map<string, () => Promise<void>>();

  /** @param total records of the backup */
  constructor(store: Store, total: number, events: RestoreEvents) {
    this.#store = store;
    this.#total = total;
    this.#events = events;
  }

  /** Makes the tables; what indexes them comes once they have their records. @throws OperatorError where the engine cannot take them */
  async makeTables({ changes, schema }: SchemaPart): Promise<void> {
    const { before, after } = inTwoSteps(changes);
    for (const slice of tablesInSlices(before)) await this.#change(slice);
    this.#expected = schema;
    this.#late = after;
  }

  /** Adds the records of a table, or the members of a Relation. @throws OperatorError for a part that is broken */
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
      // Two at a time, of which PostgreSQL makes use; the next ones are read meanwhile.
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
        // Nothing is added any more when what is there is thrown away.
        await Promise.allSettled([before, adding]);
      }
    }
    this.#filled.push({ target, said: part });
  }

  /**
   * Makes the indexes, and reads all that is there again.
   * @throws OperatorError where it is not what the backup says
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
