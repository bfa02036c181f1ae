import type { Schema } from '../../../schema/model.ts';
import type { WritePlan } from '../../port.ts';
import type { Connection } from '../connection/connection.ts';
import { storeFaultOf } from '../connection/map-error.ts';
import { catalogVersion, loadSchema, removalsQuery, touchCatalog } from './catalog.ts';

/** How soon reads notice that another process (an import, say) changed the schema, in milliseconds: a command takes longer to end. Writes notice at once. */
const NOTICE_WITHIN_MS = 10;

/** What a process knows of a file's schema and of writes to its tables, and how it notices what other processes did. */
export class SchemaCache {
  readonly #connection: Connection;
  readonly #isInPlace: () => boolean;
  #schema: Schema;
  /** As it was before the transaction that is open. */
  #before: Schema;
  /** SQLite's count of other connections' commits, and the schema's counts of its changes, when the schema was read. */
  #foreignCommits = Number.NaN;
  #catalogVersion = Number.NaN;
  #removals = 0;
  #noticedAt = 0;
  /** Writes by table, and what may have changed any of them: commits of others, commits that failed. */
  readonly #writesTo = new Map<string, number>();
  #globalVersion = 0;

  /** @param isInPlace whether the file is still where others look for it @throws unavailable */
  constructor(connection: Connection, isInPlace: () => boolean) {
    this.#connection = connection;
    this.#isInPlace = isInPlace;
    this.#schema = this.#before = this.#load();
  }

  /** As of the last look. */
  get schema(): Schema {
    return this.#schema;
  }

  /** As of now, or as it was while the file cannot be read. */
  current(): Schema {
    const now = performance.now();
    if (now - this.#noticedAt > NOTICE_WITHIN_MS) {
      this.#noticedAt = now;
      this.noticeQuietly();
    }
    return this.#schema;
  }

  /** How often something was taken out of it. */
  get removals(): number {
    return this.#removals;
  }

  /** As of `Store.tableVersion`. */
  tableVersion(className: string): number {
    // What other processes wrote is noticed there.
    this.current();
    return this.#globalVersion + (this.#writesTo.get(className) ?? 0);
  }

  /** Reads the schema anew where another process has changed it. @throws unavailable */
  notice(): void {
    const [commits] = this.#connection.first({ text: 'PRAGMA data_version', params: [] }) as [number];
    if (commits === this.#foreignCommits) return;
    this.#globalVersion++;
    if (this.#connection.ask(catalogVersion) !== this.#catalogVersion) this.#schema = this.#load();
    this.#foreignCommits = commits;
  }

  /** The same where what is known stands as long as nothing else can be read. */
  noticeQuietly(): void {
    try {
      if (this.#connection.isTransaction || this.#isInPlace()) this.notice();
    } catch (error) {
      if (!storeFaultOf(error)) throw error;
    }
  }

  /** A transaction of this process has begun. @throws unavailable */
  began(): void {
    this.notice();
    this.#before = this.#schema;
  }

  /** A plan was carried out in it, and the schema is this one now. */
  carriedOut({ mutations, changes }: WritePlan, schema: Schema): void {
    this.#schema = schema;
    for (const { kind, table } of mutations)
      if (kind !== 'require') this.#writesTo.set(table.className, (this.#writesTo.get(table.className) ?? 0) + 1);
    if (changes.length > 0) this.#countChanges();
  }

  rolledBack(): void {
    this.#schema = this.#before;
    this.forget();
  }

  /** What is known may not be what the file has. */
  forget(): void {
    this.#globalVersion++;
    this.#foreignCommits = Number.NaN;
    this.#catalogVersion = Number.NaN;
  }

  /** Writes to the catalogue without changing the schema, in the transaction that is open. @throws unavailable */
  touch(): void {
    this.#catalogVersion = this.#connection.ask(touchCatalog);
  }

  #load(): Schema {
    this.#connection.forgetPlans();
    const schema = this.#connection.ask(loadSchema);
    this.#countChanges();
    return schema;
  }

  #countChanges(): void {
    [this.#removals] = this.#connection.first(removalsQuery) as [number];
    this.#catalogVersion = this.#connection.ask(catalogVersion);
  }
}
