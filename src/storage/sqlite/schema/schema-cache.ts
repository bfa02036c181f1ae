import type { Schema } from '../../../schema/model.ts';
import type { WritePlan } from '../../port.ts';
import type { Connection } from '../connection/connection.ts';
import { storeFaultOf } from '../connection/map-error.ts';
import { foreignCommitsQuery } from '../connection/statements.ts';
import { catalogVersion, loadSchema, removalsQuery, touchCatalog } from './catalog.ts';

/**
 * Time within which reads notice schema changes of other processes (e.g. an import); commands run longer than that. Writes notice them immediately.
 */
const NOTICE_WITHIN_MS = 10;

/** A schema as it was known at a time. Later ones have higher numbers. */
interface Known {
  readonly schema: Schema;
  readonly number: number;
}

/** Caches a file's schema and counts writes to its tables, and detects the changes of other processes. */
export class SchemaCache {
  readonly #connection: Connection;
  readonly #isInPlace: () => boolean;
  readonly #isHeld: () => boolean;
  #present: Known;
  /** The schema before the open transaction, and the one that reads see. */
  #committed: Known;
  #durable: Known;
  /** Tables that the open transaction has written to, and the one before that is not durable yet. Uncounted. */
  #written = new Set<string>();
  #flushed = new Set<string>();
  #isAlone = false;
  /** Number of commits that were undone so far. */
  undoneCommits = 0;
  /** SQLite's count of other connections' commits, and the catalogue's counts of changes, as of the last load. */
  #foreignCommits = Number.NaN;
  /** Whether there are such commits that reads do not see yet. */
  #isForeignUnseen = false;
  #catalogVersion = Number.NaN;
  #removals = 0;
  #noticedAt = 0;
  /** Writes by table, and a count of events that may have changed any of them: commits of other processes, failed commits. */
  readonly #writesTo = new Map<string, number>();
  #globalVersion = 0;

  /**
   * @param isInPlace returns whether the file is still at its path
   * @param isHeld returns whether reads keep an earlier snapshot than the connection's
   * @throws unavailable
   */
  constructor(connection: Connection, isInPlace: () => boolean, isHeld: () => boolean) {
    this.#connection = connection;
    this.#isInPlace = isInPlace;
    this.#isHeld = isHeld;
    this.#present = this.#committed = this.#durable = { schema: this.#load(), number: 0 };
  }

  /** The schema as last loaded. */
  get schema(): Schema {
    return this.#present.schema;
  }

  #know(schema: Schema): void {
    this.#present = { schema, number: this.#present.number + 1 };
  }

  /** The schema that reads see. */
  get durable(): Schema {
    return this.#durable.schema;
  }

  /** Returns the present schema, or the last known one while the file cannot be read. */
  current(): Schema {
    const now = performance.now();
    if (now - this.#noticedAt > NOTICE_WITHIN_MS) {
      this.#noticedAt = now;
      this.noticeQuietly();
    }
    return this.schema;
  }

  /** Whether the open transaction is one work, whose own reads see what it writes. */
  get isAlone(): boolean {
    return this.#isAlone;
  }

  /** Number of schema changes so far, which other processes count too; NaN if it has to be read again. */
  get catalogVersion(): number {
    return this.#catalogVersion;
  }

  /** Number of removals from the schema so far. */
  get removals(): number {
    return this.#removals;
  }

  /** See `Store.tableVersion`. */
  tableVersion(className: string): number {
    // Detects writes of other processes.
    this.current();
    return this.#globalVersion + (this.#writesTo.get(className) ?? 0);
  }

  /** Reloads the schema if another process has changed it. @throws unavailable */
  notice(): void {
    const [commits] = this.#connection.first(foreignCommitsQuery) as [number];
    if (commits === this.#foreignCommits) return;
    this.#globalVersion++;
    const isHeld = this.#isHeld();
    if (isHeld) this.#isForeignUnseen = true;
    if (this.#connection.use(catalogVersion) !== this.#catalogVersion) {
      this.#know(this.#load());
      this.#committed = this.#present;
      if (!isHeld) this.#durable = this.#present;
    }
    this.#foreignCommits = commits;
  }

  /** Does the same, but keeps the known schema if the file cannot be read. @returns the schema known then */
  noticeQuietly(): Schema {
    try {
      if (this.#connection.isTransaction || this.#isInPlace()) this.notice();
    } catch (error) {
      if (!storeFaultOf(error)) throw error;
    }
    return this.schema;
  }

  /** Call when a transaction of this process has begun. @param isAlone whether its own reads see what it writes @throws unavailable */
  began(isAlone = false): void {
    this.#isAlone = isAlone;
    this.notice();
    this.#committed = this.#present;
  }

  /** Call when the transaction has executed a plan, which resulted in this schema. */
  executed({ mutations, changes }: WritePlan, schema: Schema): void {
    if (schema !== this.schema) this.#know(schema);
    for (const { kind, table } of mutations) if (kind !== 'require') this.#written.add(table.className);
    if (this.#isAlone) this.#count(this.#written);
    if (changes.length > 0) this.#countChanges();
  }

  /** Returns a function that tells whether reads still do not see the present schema; `undefined` if they do. */
  unseen(): (() => boolean) | undefined {
    const { number } = this.#present;
    const isUnseen = () => this.#durable.number < number;
    return isUnseen() ? isUnseen : undefined;
  }

  /** Call when the open transaction is committed. */
  appended(): void {
    this.#committed = this.#present;
    [this.#flushed, this.#written] = [this.#written, this.#flushed];
  }

  /** Call when the committed transaction is durable, and reads see it. */
  ended(): void {
    this.#durable = this.#committed;
    this.#count(this.#flushed);
    // What was read meanwhile did not contain them.
    if (this.#isForeignUnseen) this.#globalVersion++;
    this.#isForeignUnseen = false;
  }

  #count(written: Set<string>): void {
    for (const className of written) this.#writesTo.set(className, (this.#writesTo.get(className) ?? 0) + 1);
    written.clear();
  }

  /** Call when the committed transaction is undone. */
  undone(): void {
    this.undoneCommits++;
    this.#flushed.clear();
    this.#committed = this.#durable;
    this.rolledBack();
  }

  rolledBack(): void {
    this.#written.clear();
    const isSeen = this.#committed === this.#durable;
    this.#know(this.#committed.schema);
    this.#committed = this.#present;
    if (isSeen) this.#durable = this.#present;
    this.forget();
  }

  /** Invalidates the cached state, which may differ from the file's. */
  forget(): void {
    this.#globalVersion++;
    this.#foreignCommits = Number.NaN;
    this.#catalogVersion = Number.NaN;
  }

  /** Writes to the catalogue without changing the schema, in the open transaction. @throws unavailable */
  touch(): void {
    this.#catalogVersion = this.#connection.use(touchCatalog);
  }

  #load(): Schema {
    this.#connection.forgetPlans();
    const schema = this.#connection.use(loadSchema);
    this.#countChanges();
    return schema;
  }

  #countChanges(): void {
    [this.#removals] = this.#connection.first(removalsQuery) as [number];
    this.#catalogVersion = this.#connection.use(catalogVersion);
  }
}
