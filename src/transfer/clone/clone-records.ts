import { type HeldWork, heldWork } from '../../automation/index.ts';
import { type TableSchema, tableOf } from '../../schema/model.ts';
import { changesTo } from '../../schema/replay.ts';
import type { Store } from '../../storage/port.ts';
import { chunkedRows, rowsAmong, type StoredMember, type StoredRow, type StoreSnapshot } from '../../storage/raw-access.ts';
import { NewStore } from '../backup/new-store.ts';
import { chunkedMembers, type Part, partIn, partsOf } from '../migrate/copy.ts';
import { Anonymiser, checkRules } from './anonymise/index.ts';
import { FileMentions } from './file-mentions.ts';
import type { CloneOptions } from './options.ts';
import { pointedAtFirst, RecentRecords } from './recent-records.ts';
import type { RowChanges } from './row-changes.ts';
import { fileTable, type Share, Shares, usageTable } from './shares.ts';
import { TableChanges } from './table-changes.ts';

/** Progress events of a clone. */
export interface CloneEvents {
  /** @param records number written so far @param share of all records, from 0 to 1 */
  copying(what: string, records: number, share: number): void;
  /** @param files number written so far */
  files(files: number): void;
}

/** The records of a clone. */
export interface ClonedRecords {
  readonly records: number;
  /** Values of File fields that were cleared because files are left out. */
  readonly clearedFiles: number;
  /** Of an anonymised clone: fields that have values, are named as if these were about persons, and have no rule: `Table.Field`. */
  readonly withoutRule: readonly string[];
  /** Work that waits until the clone is resumed. */
  readonly held: HeldWork;
}

/** How records are cloned. */
export interface CloneWork {
  readonly options: CloneOptions;
  /** Names of the lookup tables of the template. */
  readonly lookups: ReadonlySet<string>;
  /** Called with the share of all records that are taken at most, before the first is written. */
  readonly admit: (share: number) => Promise<void>;
  readonly events: CloneEvents;
}

/**
 * Fills a store with the records of a snapshot. Memory holds some thousand records at a time, and, if not all are taken, the ids of those that are.
 * @param store empty
 * @throws OperatorError if a rule fits no table or field, or the engine refuses a record; errors of both stores
 */
export async function cloneRecords(snapshot: StoreSnapshot, store: Store, work: CloneWork): Promise<ClonedRecords> {
  if (work.options.rules) checkRules(work.options.rules, snapshot.schema);
  const counts = new Map<string, number>();
  for (const table of snapshot.schema.tables.values()) counts.set(table.className, await snapshot.count(table));
  return new RecordCloning(snapshot, store, work, counts).run();
}

class RecordCloning {
  readonly #snapshot: StoreSnapshot;
  readonly #store: Store;
  readonly #work: CloneWork;
  readonly #counts: ReadonlyMap<string, number>;
  readonly #shares = new Map<string, Share>();
  readonly #changes: TableChanges;
  readonly #filling: NewStore;
  readonly #recent: RecentRecords | null;
  readonly #mentions: FileMentions | null;
  /** Number of records that are read from beginning to end, and of those that were. */
  #total = 0;
  #read = 0;

  constructor(snapshot: StoreSnapshot, store: Store, work: CloneWork, counts: ReadonlyMap<string, number>) {
    const { options, lookups, events } = work;
    const { schema } = snapshot;
    this.#snapshot = snapshot;
    this.#store = store;
    this.#work = work;
    this.#counts = counts;
    const shares = new Shares(options, schema, lookups);
    this.#changes = new TableChanges(options, shares, new Anonymiser());
    for (const table of schema.tables.values()) this.#shares.set(table.className, shares.of(table, this.#countOf(table)));
    for (const [className, share] of this.#shares) if (share !== 'none') this.#total += counts.get(className) ?? 0;
    this.#filling = new NewStore(store, (what, records) =>
      events.copying(what, records, this.#total === 0 ? 1 : this.#read / this.#total),
    );
    const { extent, withFiles } = options;
    this.#recent = extent.kind === 'since' ? new RecentRecords(extent.since, schema, (name) => this.#shareOf(name)) : null;
    this.#mentions = withFiles && extent.kind !== 'all' ? new FileMentions() : null;
  }

  async run(): Promise<ClonedRecords> {
    const { schema } = this.#snapshot;
    const all = [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
    await this.#work.admit(this.#total / Math.max(1, all));
    await this.#filling.makeTables(changesTo(schema), schema);
    await this.#mentions?.know(this.#snapshot);
    const tables = [...schema.tables.values()].filter(({ className }) => this.#shareOf(className) !== 'none');
    const records = tables.filter(({ className }) => className !== fileTable && className !== usageTable);
    for (const table of this.#recent ? pointedAtFirst(records) : records) await this.#copy(table, this.#selected(table));
    await this.#copyPointedAt();
    for (const part of partsOf(schema)) if (part.kind === 'relation') await this.#copyMembers(part);
    // The rows of files and of their sizes depend on what the records name.
    for (const className of [fileTable, usageTable]) {
      const table = tables.find((one) => one.className === className);
      if (table) await this.#copy(table, this.#selected(table));
    }
    await this.#filling.finish();
    const { clearedFiles, withoutRule } = this.#changes;
    return { records: this.#filling.records, clearedFiles, withoutRule, held: await heldWork(this.#store) };
  }

  #countOf = ({ className }: TableSchema): number => this.#counts.get(className) ?? 0;

  #shareOf = (className: string): Share => this.#shares.get(className) ?? 'none';

  /** Yields the rows of a table that are taken. */
  async *#selected(table: TableSchema): AsyncGenerator<readonly StoredRow[]> {
    for await (const rows of chunkedRows(this.#snapshot, table, 0)) {
      this.#read += rows.length;
      yield this.#recent ? this.#recent.of(table.className, rows) : rows;
    }
  }

  /** Copies what taken records point at, until nothing is missing. */
  async #copyPointedAt(): Promise<void> {
    if (!this.#recent) return;
    for (let next = this.#recent.next(); next; next = this.#recent.next()) {
      const table = this.#snapshot.schema.tables.get(next.className);
      if (table) await this.#copy(table, this.#among(table, next.ids));
    }
  }

  async *#among(table: TableSchema, ids: readonly string[]): AsyncGenerator<readonly StoredRow[]> {
    for await (const rows of rowsAmong(this.#snapshot, table, ids)) yield this.#recent?.of(table.className, rows) ?? [];
  }

  async #copy(table: TableSchema, batches: AsyncIterable<readonly StoredRow[]>): Promise<void> {
    const target = tableOf(this.#store.schema(), table.className);
    await this.#filling.addRows(table.className, target, this.#changed(table, batches, this.#changes.of(table)));
  }

  async *#changed(
    table: TableSchema,
    batches: AsyncIterable<readonly StoredRow[]>,
    changes: RowChanges,
  ): AsyncGenerator<readonly StoredRow[]> {
    const mentions = this.#mentions?.of(table);
    for await (const rows of batches) {
      const taken = changes.of(rows);
      const kept = mentions ? mentions(taken) : taken;
      if (kept.length > 0) yield kept;
    }
  }

  async #copyMembers(part: Extract<Part, { kind: 'relation' }>): Promise<void> {
    const { table, field } = part;
    const target = partIn(this.#store, part);
    const [owners, members] = [this.#shareOf(table.className), this.#shareOf(field.targetClass ?? '')];
    if (target.kind !== 'relation' || owners === 'none' || members === 'none') return;
    if (this.#work.options.rules?.get(table.className)?.get(field.name) === 'remove') return;
    await this.#filling.addMembers(`${table.className}.${field.name}`, target, this.#membersOf(part));
  }

  /** Yields the members of a Relation of which both records are taken. */
  async *#membersOf({ table, field }: Extract<Part, { kind: 'relation' }>): AsyncGenerator<readonly StoredMember[]> {
    const recent = this.#recent;
    for await (const members of chunkedMembers(this.#snapshot, field, null)) {
      const taken = recent
        ? members.filter(([owner, member]) => recent.has(table.className, owner) && recent.has(field.targetClass ?? '', member))
        : members;
      if (taken.length > 0) yield taken;
    }
  }
}
