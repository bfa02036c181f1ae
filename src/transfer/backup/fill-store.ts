import { isRefusal } from '../../errors/fail.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { SchemaChange } from '../../schema/change.ts';
import type { Schema } from '../../schema/model.ts';
import { isSameSchema } from '../../schema/replay.ts';
import { columnFields } from '../../storage/column-values.ts';
import type { Store } from '../../storage/port.ts';
import { RowsRefused } from '../../storage/raw-access.ts';
import { checksumOf } from '../migrate/checksum.ts';
import { type Part, partsOf } from '../migrate/copy.ts';
import { tablesInSlices } from '../migrate/table-slices.ts';
import type { PartReader } from './archive-reader.ts';
import { type ManifestPart, membersName, rowsName } from './manifest.ts';
import { storedMembers, storedRows } from './row-lines.ts';
import { inTwoSteps, readSchema } from './schema-part.ts';

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
  /** Of the target, by their names in the archive. */
  #parts = new Map<string, Part>();
  #expected: Schema | undefined;
  #late: readonly SchemaChange[] = [];
  readonly #filled = new Map<string, ManifestPart>();
  #records = 0;

  /** @param total records of the backup */
  constructor(store: Store, total: number, events: RestoreEvents) {
    this.#store = store;
    this.#total = total;
    this.#events = events;
  }

  /** Makes the tables; what indexes them comes once they have their records. @throws OperatorError where the engine cannot take them */
  async makeTables(text: string): Promise<void> {
    const { changes, schema } = readSchema(text);
    const { before, after } = inTwoSteps(changes);
    for (const slice of tablesInSlices(before)) await this.#change(slice);
    this.#expected = schema;
    this.#late = after;
    this.#parts = new Map(partsOf(this.#store.schema()).map((part) => [nameOf(part), part]));
  }

  /** Adds the records of a table, or the members of a Relation. @throws OperatorError for a part that the schema does not know, or that is broken */
  async add(reader: PartReader): Promise<void> {
    await this.#add(reader).catch((error) => {
      throw error instanceof RowsRefused ? new OperatorError(`${reader.part.name}: ${error.message}`, { cause: error }) : error;
    });
  }

  async #add({ part, bytes }: PartReader): Promise<void> {
    const target = this.#parts.get(part.name);
    if (!target) throw new OperatorError(`${part.name} is of no table of its schema`);
    const { raw } = this.#store;
    const { className } = target.table;
    if (target.kind === 'relation') {
      for await (const members of storedMembers(bytes, part.name)) await raw.addMembers(target.field, members);
    } else {
      const columns = columnFields(target.table);
      // The next ones are read while these are added.
      let adding = Promise.resolve();
      for await (const rows of storedRows(bytes, part.name, columns)) {
        await adding;
        adding = raw.addRows(target.table, rows);
        adding.catch(() => {});
        this.#records += rows.length;
        this.#events.adding(className, this.#records, this.#total);
      }
      await adding;
    }
    this.#filled.set(part.name, part);
  }

  /**
   * Makes the indexes, and reads all that is there again.
   * @throws OperatorError where it is not what the backup says
   */
  async finish(): Promise<void> {
    for (const change of this.#late) await this.#change([change]);
    const expected = this.#expected;
    if (!expected || !isSameSchema(expected, this.#store.schema()))
      throw new OperatorError('the tables or fields are not those of the backup');
    let compared = 0;
    for (const [name, part] of this.#parts) {
      const said = this.#filled.get(name);
      if (!said) throw new OperatorError(`${name} is not in the backup`);
      this.#events.comparing(part.table.className, compared, this.#total);
      const { count, hash } = await checksumOf(this.#store.raw, part);
      if (count !== said.count || hash !== said.sha256)
        throw new OperatorError(`${name}: what was restored is not the same (${count} rows, and ${said.count} in the backup)`);
      if (part.kind === 'table') compared += count;
    }
  }

  async #change(changes: readonly SchemaChange[]): Promise<void> {
    await this.#store.write({ plan: () => ({ changes, mutations: [] }) }).catch((error) => {
      throw isRefusal(error) ? new OperatorError(`the engine cannot take a table of the backup: ${error.message}`) : error;
    });
  }
}

const nameOf = (part: Part): string =>
  part.kind === 'table' ? rowsName(part.table.className) : membersName(part.table.className, part.field.name);
