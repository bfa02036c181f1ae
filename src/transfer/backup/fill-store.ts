import { OperatorError } from '../../kernel/operator-error.ts';
import { columnFields } from '../../storage/column-values.ts';
import type { Store } from '../../storage/port.ts';
import { checksumOf } from '../migrate/checksum.ts';
import { type Part, partIn } from '../migrate/copy.ts';
import type { PartReader } from './archive-reader.ts';
import type { ManifestPart } from './manifest.ts';
import { NewStore } from './new-store.ts';
import { storedMembers, storedRows } from './row-lines.ts';
import type { SchemaPart } from './schema-part.ts';

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
  readonly #new: NewStore;
  readonly #events: RestoreEvents;
  readonly #total: number;
  /** Parts written so far, with their manifest entries. */
  readonly #filled: { readonly target: Part; readonly said: ManifestPart }[] = [];

  /** @param total number of records in the backup */
  constructor(store: Store, total: number, events: RestoreEvents) {
    this.#store = store;
    this.#total = total;
    this.#events = events;
    this.#new = new NewStore(store, (what, records) => events.adding(what, records, total));
  }

  /** Creates the tables; indexes follow in `finish`, when all rows are present. @throws OperatorError if the engine cannot create them */
  makeTables({ changes, schema }: SchemaPart): Promise<void> {
    return this.#new.makeTables(changes, schema);
  }

  /** Adds the rows of a table or the members of a Relation. @throws OperatorError for a damaged part */
  async add({ part, bytes }: PartReader, of: Part): Promise<void> {
    const target = partIn(this.#store, of);
    const { name } = part;
    if (target.kind === 'relation') await this.#new.addMembers(name, target, storedMembers(bytes, name));
    else await this.#new.addRows(name, target.table, storedRows(bytes, name, columnFields(target.table)));
    this.#filled.push({ target, said: part });
  }

  /**
   * Builds the indexes, then re-reads all rows and compares them with the backup.
   * @throws OperatorError if they differ
   */
  async finish(): Promise<void> {
    await this.#new.finish();
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
}
