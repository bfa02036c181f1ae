import { serviceError } from '../../errors/fail.ts';
import type { Conditions, Observations } from '../../observe/index.ts';
import type { Schema } from '../../schema/model.ts';
import type { Cluster } from '../cluster.ts';
import { deletesRecord } from '../column-values.ts';
import type { GenerationGrown } from '../engine.ts';
import { observedReader } from '../observed-reader.ts';
import type { KeyVersion, PreparedWrite, Reader, Store, WriteOutcome, WritePlan } from '../port.ts';
import type { StoreSnapshot } from '../raw-access.ts';
import { type RowContext, recordForm } from '../sql/row-layout.ts';
import type { Statement } from '../sql/sql-writer.ts';
import { DelayedInvalidations } from './cluster/delayed-invalidations.ts';
import { type InvalidationBus, type StoreInvalidation, storeInvalidation, type Watcher } from './cluster/invalidation.ts';
import { StalenessCheck } from './cluster/staleness-check.ts';
import type { Database, Row } from './connection/database.ts';
import { causeOf, lockTimeoutError, mapCatalogError, mapMissingTable, mapWriteError } from './connection/map-error.ts';
import { PostgresRawAccess, withSnapshot } from './raw-access.ts';
import { PostgresReader } from './reads/reader.ts';
import { type Catalog, catalogFrom, catalogVersionSql, loadStatement } from './schema/catalog.ts';
import { recordGeneration } from './schema/identity.ts';
import { probeStatements, versionsFrom, versionsStatement } from './schema/key-versions.ts';
import { openCatalog } from './schema/migrations.ts';
import { SchemaCache } from './schema/schema-cache.ts';
import { postgresAggregate } from './sql/aggregate.ts';
import { postgresDialect } from './sql/dialect.ts';
import { bulkTransaction } from './writes/bulk-transaction.ts';
import { fillSearchIndex } from './writes/fill-search-index.ts';
import { MAX_CONCURRENT_GROUPS, MAX_GROUP_SIZE } from './writes/group-limits.ts';
import { transactionsOf } from './writes/transaction.ts';
import { WriteBehind } from './writes/write-behind.ts';
import { type ExecutorContext, WriteExecutor } from './writes/write-executor.ts';
import { WriteQueue } from './writes/write-queue.ts';

/** Settings and collaborators of a store. */
export interface PostgresStoreSettings extends RowContext {
  readonly database: Database;
  /** The system's PostgreSQL schema. */
  readonly schemaName: string;
  /** Application id, for the log. */
  readonly appId?: string;
  readonly place?: string;
  readonly conditions?: Pick<Conditions, 'met' | 'over'> | undefined;
  readonly observations?: Observations | undefined;
  /** As in `Engine.open`. */
  readonly grown?: GenerationGrown;
  readonly invalidations: InvalidationBus;
  readonly cluster: Cluster;
  /** Receives failures of writes that no caller waits for. */
  readonly report: (fault: string) => void;
}

/** One system in its PostgreSQL schema, which several processes may use at the same time. */
export class PostgresStore implements Store, Watcher {
  readonly reader: Reader;
  readonly raw: PostgresRawAccess;
  readonly recordForm = () => recordForm(this.#schemaCache.changes, this.#context);
  readonly cluster: Cluster;
  readonly place: string;
  readonly #database: Database;
  readonly #schemaName: string;
  readonly #schemaCache: SchemaCache;
  readonly #context: ExecutorContext;
  readonly #queue: WriteQueue;
  readonly #behind: WriteBehind;
  readonly #staleness: StalenessCheck;
  readonly #unwatch: () => void;
  readonly #grown: GenerationGrown | undefined;
  #loading: Promise<void> | undefined;
  #loadingNext: Promise<void> | undefined;
  #closed = false;
  readonly #closing = new AbortController();
  /** Number of writes by table, and of changes by other processes that may affect any table. */
  readonly #writesTo = new Map<string, number>();
  #globalVersion = 0;
  readonly #unregister: () => void;
  readonly #delayedInvalidations: DelayedInvalidations;

  /**
   * Opens the system.
   * @param mayMake whether a missing PostgreSQL schema is created
   * @throws unavailable; OperatorError if a later version of the service has used the schema
   */
  static async open(settings: PostgresStoreSettings, mayMake = false): Promise<PostgresStore> {
    return new PostgresStore(settings, await openCatalog(settings.database, settings.schemaName, mayMake));
  }

  private constructor(
    { database, schemaName, invalidations, cluster, report, conditions, grown, addresses, ...named }: PostgresStoreSettings,
    catalog: Catalog,
  ) {
    this.#database = database;
    this.#schemaName = schemaName;
    this.#grown = grown;
    this.cluster = cluster;
    this.place = named.place ?? '';
    this.#schemaCache = new SchemaCache(catalog);
    const dialect = postgresDialect(schemaName);
    const reloadSchema = () => this.#reload();
    const transactions = transactionsOf(database, schemaName);
    const recordWrites = (tables: Iterable<string>, isInDoubt?: boolean) => this.#recordWrites(tables, isInDoubt);
    const mapFault = (error: unknown) => this.#recordFault(mapWriteError(mapMissingTable(causeOf(error))));
    const query = (statement: Statement) => database.short(statement, schemaName);
    this.#delayedInvalidations = new DelayedInvalidations((tables) =>
      query(storeInvalidation(schemaName, { schemaChanged: false, tables })),
    );
    const shared = { schemaName, dialect, isCoordinator: database.isCoordinator, addresses, reloadSchema, mapFault };
    this.#context = { ...shared, query, transactions, schemaCache: this.#schemaCache, recordWrites };
    this.#queue = new WriteQueue(new WriteExecutor(this.#context), {
      maxGroupSize: MAX_GROUP_SIZE,
      maxConcurrentGroups: MAX_CONCURRENT_GROUPS,
      maxHeldMs: database.timeLimit,
      timeoutError: () => mapFault(lockTimeoutError()),
      onCommit: (writes, ms) => named.observations?.observe({ kind: 'commit', writes, ms }),
    });
    this.#behind = new WriteBehind({
      execute: (write) => this.#enqueue(write, true),
      whenBack: () => this.whenBack(),
      dropped: (error) => conditions?.met('rows of logs are lost', { app: named.appId }, error),
      report,
    });
    this.#unregister = database.outage.register(schemaName, {
      appId: named.appId,
      statements: () => probeStatements(schemaName),
    });
    this.#staleness = new StalenessCheck(
      () => invalidations.isReliable(),
      () => this.#refreshAll(),
    );
    this.raw = new PostgresRawAccess(database, dialect, schemaName);
    const [aggregate, schemaCache] = [postgresAggregate(dialect), this.#schemaCache];
    const reader = new PostgresReader({ ...shared, database, aggregate, schemaCache });
    this.reader = observedReader(reader, named.appId, named.observations);
    this.#unwatch = invalidations.watch(schemaName, this);
    // Changes between reading the catalogue and registering the watcher were not reported.
    this.#staleness.markStale();
  }

  schema(): Schema {
    return this.#schemaCache.schema;
  }

  /** The known schema changes after the commit. */
  readonly durableSchema = () => this.schema();

  whenCurrent(): Promise<void> {
    return this.#staleness.whenCurrent();
  }

  isCurrent(): boolean {
    return this.#staleness.isCurrent();
  }

  tableVersion(className: string): number {
    return this.#globalVersion + (this.#writesTo.get(className) ?? 0);
  }

  write(write: PreparedWrite): Promise<WriteOutcome> {
    return this.#closed ? Promise.reject(serviceError('unavailable')) : this.#enqueue(write, false);
  }

  async keyVersions(keys: readonly string[]): Promise<readonly KeyVersion[]> {
    const [row] = await this.#readCatalog(versionsStatement(this.#schemaName, keys));
    if (row?.[0] !== this.#schemaCache.changes) await this.#reload();
    return versionsFrom(keys, row?.[1] ?? null);
  }

  writeBehind(write: PreparedWrite): void {
    if (!this.#closed) this.#behind.add(write);
  }

  fillSearchIndex(className: string, shouldStop: () => boolean): Promise<void> {
    const closing = this.#closing.signal;
    const context = { store: this, database: this.#database, schemaName: this.#schemaName, closing };
    return fillSearchIndex(context, className, shouldStop);
  }

  /** Runs in one transaction, with a savepoint for each group of writes. Other writes continue meanwhile; they see its changes after the commit. */
  async bulkTransaction<T>(work: (store: Store) => Promise<T>): Promise<T> {
    if (this.#closed) throw serviceError('unavailable');
    const { result, version, tables } = await this.#database.transact(
      (session) => bulkTransaction(session, this, this.#context, work),
      { timeLimit: 0, idleLimit: 0, location: this.#schemaName },
    );
    this.#schemaCache.adopt(version);
    this.#recordWrites(tables);
    return result;
  }

  withSnapshot<T>(work: (snapshot: StoreSnapshot) => Promise<T>): Promise<T> {
    return withSnapshot(this.#database, this.#schemaName, work);
  }

  whenBack(): Promise<void> {
    return this.#database.outage.whenBack(this.#schemaName);
  }

  invalidated({ schemaChanged, tables }: StoreInvalidation): void {
    this.#countWrites(tables);
    if (!schemaChanged) return;
    // Start now; the next request waits for it.
    this.#staleness.markStale();
    this.#reload().catch(() => {});
  }

  markStale(): void {
    this.#globalVersion++;
    this.#staleness.markStale();
  }

  #enqueue(write: PreparedWrite, behind: boolean): Promise<WriteOutcome> {
    const schema = this.schema();
    let plan: WritePlan;
    try {
      plan = write.plan(schema);
    } catch (error) {
      return this.#queueReplanned(write, behind, schema, error);
    }
    // Flush first: a pending row may point at a record that this write deletes.
    if (deletesRecord(plan)) this.#behind.flush();
    return this.#queue.add(write, plan, schema, behind);
  }

  /** Plans a rejected write again if another process has changed the schema meanwhile; otherwise rethrows the error. */
  async #queueReplanned(write: PreparedWrite, behind: boolean, schema: Schema, error: unknown): Promise<WriteOutcome> {
    await this.#refreshSchema();
    if (this.schema() === schema) throw error;
    return this.#enqueue(write, behind);
  }

  /** Records and announces writes of this process. */
  #recordWrites(tables: Iterable<string>, isInDoubt = false): void {
    this.#countWrites(tables);
    this.#delayedInvalidations.add(tables, isInDoubt);
  }

  #countWrites(tables: Iterable<string>): void {
    for (const table of tables) this.#writesTo.set(table, (this.#writesTo.get(table) ?? 0) + 1);
  }

  /** Reads what other processes may have changed. @throws unavailable */
  async #refreshAll(): Promise<void> {
    await this.#refreshSchema();
    this.#globalVersion++;
  }

  /** Reads the schema if its version has changed. @throws unavailable */
  async #refreshSchema(): Promise<void> {
    const [row] = await this.#readCatalog({ text: catalogVersionSql(this.#schemaName), params: [] });
    if (row?.[0] !== this.#schemaCache.changes) await this.#reload();
  }

  /** Reads the schema as of now. A load that is already running may see an earlier version, so another one follows it. */
  #reload(): Promise<void> {
    if (!this.#loading) return this.#beginLoad();
    const next = () => {
      this.#loadingNext = undefined;
      return this.#beginLoad();
    };
    this.#loadingNext ??= this.#loading.then(next, next);
    return this.#loadingNext;
  }

  #beginLoad(): Promise<void> {
    const loading = this.#load().finally(() => {
      if (this.#loading === loading) this.#loading = undefined;
    });
    this.#loading = loading;
    return loading;
  }

  async #load(): Promise<void> {
    const since = this.#schemaCache.changes;
    this.#schemaCache.adoptRead(catalogFrom(await this.#readCatalog(loadStatement(this.#schemaName))), since);
  }

  /** Reads the catalogue. A schema that is missing, or was removed by another process, counts as unavailable. */
  #readCatalog(statement: Statement): Promise<Row[]> {
    return this.#database.short(statement, this.#schemaName).catch((error) => {
      throw this.#recordFault(mapCatalogError(error));
    });
  }

  #recordFault(error: unknown): unknown {
    this.#database.outage.record(error, this.#schemaName);
    return error;
  }

  /** Finishes the pending writes and refuses further ones. */
  async close(): Promise<void> {
    this.#behind.close();
    this.#closed = true;
    this.#closing.abort();
    await this.#queue.whenIdle();
    this.#delayedInvalidations.flush();
    this.#unregister();
    this.#unwatch();
    await recordGeneration(this.#database, this.#schemaName, this.#grown);
  }
}
