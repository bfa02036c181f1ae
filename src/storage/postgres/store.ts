import { serviceError } from '../../errors/fail.ts';
import type { Conditions } from '../../observe/index.ts';
import type { Schema } from '../../schema/model.ts';
import type { Cluster } from '../cluster.ts';
import { deletesRecord } from '../column-values.ts';
import type { GenerationGrown } from '../engine.ts';
import type { KeyVersion, PreparedWrite, Store, WriteOutcome, WritePlan } from '../port.ts';
import type { StoreSnapshot } from '../raw-access.ts';
import type { RowContext } from '../sql/row-layout.ts';
import type { Statement } from '../sql/writer.ts';
import { type InvalidationBus, type StoreInvalidation, storeInvalidation, type Watcher } from './cluster/invalidation.ts';
import { LateNotices } from './cluster/late-notices.ts';
import { StalenessCheck } from './cluster/staleness-check.ts';
import type { Database } from './connection/database.ts';
import { causeOf, lockNotHad, ofCatalog, ofKnownSchema, ofWrite } from './connection/map-error.ts';
import { PostgresRawAccess, withSnapshot } from './raw-access.ts';
import { PostgresReader } from './reads/reader.ts';
import { type Catalog, catalogFrom, catalogVersionSql, loadStatement } from './schema/catalog.ts';
import { noteGeneration } from './schema/identity.ts';
import { trialStatements, versionsFrom, versionsStatement } from './schema/key-versions.ts';
import { openCatalog } from './schema/migrations.ts';
import { SchemaCache } from './schema/schema-cache.ts';
import { postgresAggregate } from './sql/aggregate.ts';
import { postgresDialect } from './sql/dialect.ts';
import { bulkTransaction } from './writes/bulk-transaction.ts';
import { fillSearchIndex } from './writes/fill-search-index.ts';
import { transactionsOf } from './writes/transaction.ts';
import { WriteBehind } from './writes/write-behind.ts';
import { type ExecutorContext, WriteExecutor } from './writes/write-executor.ts';
import { WriteQueue } from './writes/write-queue.ts';

/** Writes in one transaction: a batch as large as the edge carries out at once. */
const MAX_GROUP = 1_000;
/** Groups of one system at a time; the connections are for all systems. */
const MAX_GROUPS = 2;

/** What a store stands on. */
export interface PostgresStoreSettings extends RowContext {
  readonly database: Database;
  /** The PostgreSQL schema that is the system's. */
  readonly schemaName: string;
  /** Whose system it is, for the log; where it lies. */
  readonly appId?: string;
  readonly place?: string;
  readonly conditions?: Pick<Conditions, 'met' | 'over'> | undefined;
  /** As of `Engine.open`. */
  readonly grown?: GenerationGrown;
  readonly invalidations: InvalidationBus;
  readonly cluster: Cluster;
  /** Told of writes that nobody waits for and that failed. */
  readonly report: (fault: string) => void;
}

/** One system in its PostgreSQL schema, which other processes may work with at the same time. */
export class PostgresStore implements Store, Watcher {
  readonly reader: PostgresReader;
  readonly raw: PostgresRawAccess;
  readonly cluster: Cluster;
  readonly place: string;
  readonly #database: Database;
  readonly #schemaName: string;
  readonly #known: SchemaCache;
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
  /** Writes by table, and what may have changed any of them: what other processes did without our being told. */
  readonly #writesTo = new Map<string, number>();
  #globalVersion = 0;
  readonly #delist: () => void;
  readonly #notices: LateNotices;

  /**
   * Opens the system.
   * @param mayMake whether its PostgreSQL schema is made where there is none
   * @throws unavailable; OperatorError where a later version was here
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
    this.#known = new SchemaCache(catalog);
    const dialect = postgresDialect(schemaName);
    const reload = () => this.#reload();
    const written = (tables: Iterable<string>) => this.#wrote(tables);
    const transactions = transactionsOf(database, schemaName);
    const rejection = (error: unknown) => this.#met(ofWrite(ofKnownSchema(causeOf(error))));
    const look = (statement: Statement) => database.short(statement, schemaName);
    this.#notices = new LateNotices((tables) => look(storeInvalidation(schemaName, { schemaChanged: false, tables })));
    this.#context = { look, transactions, schemaName, dialect, addresses, known: this.#known, reload, written, rejection };
    this.#queue = new WriteQueue(new WriteExecutor(this.#context), {
      maxGroup: MAX_GROUP,
      maxGroups: MAX_GROUPS,
      maxHeldMs: database.timeLimit,
      tooLong: () => rejection(lockNotHad()),
    });
    this.#behind = new WriteBehind({
      execute: (write) => this.#queued(write, true),
      whenBack: () => this.whenBack(),
      dropped: (error) => conditions?.met('rows of logs are lost', { app: named.appId }, error),
      report,
    });
    this.#delist = database.outage.enlist(schemaName, { appId: named.appId, statements: () => trialStatements(schemaName) });
    this.#staleness = new StalenessCheck(
      () => invalidations.isSound(),
      () => this.#look(),
    );
    this.raw = new PostgresRawAccess(database, dialect);
    this.reader = new PostgresReader({
      database,
      dialect,
      aggregate: postgresAggregate(dialect),
      schemaName,
      schemaVersion: () => this.#known.changes,
      stale: reload,
      rejection,
      addresses,
    });
    this.#unwatch = invalidations.watch(schemaName, this);
    // What was changed between the reading of the catalogue and now was not told.
    this.#staleness.distrust();
  }

  schema(): Schema {
    return this.#known.schema;
  }

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
    return this.#closed ? Promise.reject(serviceError('unavailable')) : this.#queued(write, false);
  }

  async keyVersions(keys: readonly string[]): Promise<readonly KeyVersion[]> {
    const statement = versionsStatement(this.#schemaName, keys);
    const [row] = await this.#database.short(statement, this.#schemaName).catch((error) => this.#gone(error));
    if (row?.[0] !== this.#known.changes) await this.#reload();
    return versionsFrom(keys, row?.[1] ?? null);
  }

  writeBehind(write: PreparedWrite): void {
    if (!this.#closed) this.#behind.add(write);
  }

  fillSearchIndex(className: string, isEnough: () => boolean): Promise<void> {
    const closing = this.#closing.signal;
    const context = { store: this, database: this.#database, schemaName: this.#schemaName, closing };
    return fillSearchIndex(context, className, isEnough);
  }

  /** One transaction, each group of writes in a savepoint. Writes of others go on meanwhile; what it changes is theirs after the commit. */
  async bulkTransaction<T>(work: (store: Store) => Promise<T>): Promise<T> {
    if (this.#closed) throw serviceError('unavailable');
    const { result, version, tables } = await this.#database.transact(
      (session) => bulkTransaction(session, this, this.#context, work),
      { timeLimit: 0, idleLimit: 0 },
    );
    this.#known.adopt(version);
    this.#wrote(tables);
    return result;
  }

  withSnapshot<T>(work: (snapshot: StoreSnapshot) => Promise<T>): Promise<T> {
    return withSnapshot(this.#database, this.#schemaName, work);
  }

  whenBack(): Promise<void> {
    return this.#database.outage.whenBack(this.#schemaName);
  }

  noticed({ schemaChanged, tables }: StoreInvalidation): void {
    this.#count(tables);
    if (!schemaChanged) return;
    // The next request waits for it; it begins now.
    this.#staleness.distrust();
    this.#reload().catch(() => {});
  }

  distrust(): void {
    this.#globalVersion++;
    this.#staleness.distrust();
  }

  #queued(write: PreparedWrite, behind: boolean): Promise<WriteOutcome> {
    const schema = this.schema();
    let plan: WritePlan;
    try {
      plan = write.plan(schema);
    } catch (error) {
      return this.#queuedAnew(write, behind, schema, error);
    }
    // A row that is about to be written may point at what a delete takes.
    if (deletesRecord(plan)) this.#behind.flush();
    return this.#queue.add(write, plan, schema, behind);
  }

  /** A write that the schema refuses: where another process has changed it meanwhile, the write is planned under the new one. */
  async #queuedAnew(write: PreparedWrite, behind: boolean, schema: Schema, error: unknown): Promise<WriteOutcome> {
    await this.#refresh();
    if (this.schema() === schema) throw error;
    return this.#queued(write, behind);
  }

  /** What this process wrote to. */
  #wrote(tables: Iterable<string>): void {
    this.#count(tables);
    this.#notices.add(tables);
  }

  #count(tables: Iterable<string>): void {
    for (const table of tables) this.#writesTo.set(table, (this.#writesTo.get(table) ?? 0) + 1);
  }

  /** Reads what other processes may have changed. @throws unavailable */
  async #look(): Promise<void> {
    await this.#refresh();
    this.#globalVersion++;
  }

  /** Reads the schema where it is another by now. @throws unavailable */
  async #refresh(): Promise<void> {
    const statement = { text: catalogVersionSql(this.#schemaName), params: [] };
    const [row] = await this.#database.short(statement, this.#schemaName).catch((error) => this.#gone(error));
    if (row?.[0] !== this.#known.changes) await this.#reload();
  }

  /** Reads the schema as it is from now on: one that is being read may be what was before. */
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
    const since = this.#known.changes;
    const rows = await this.#database
      .short(loadStatement(this.#schemaName), this.#schemaName)
      .catch((error) => this.#gone(error));
    this.#known.adoptRead(catalogFrom(rows), since);
  }

  /** The catalogue could not be read: a schema that another process has removed, or that is missing, is not available. */
  #gone(error: unknown): never {
    throw this.#met(ofCatalog(error));
  }

  #met(error: unknown): unknown {
    this.#database.outage.met(error, this.#schemaName);
    return error;
  }

  /** Finishes the writes so far, and refuses further ones. */
  async close(): Promise<void> {
    this.#behind.close();
    this.#closed = true;
    this.#closing.abort();
    await this.#queue.whenIdle();
    this.#notices.flush();
    this.#delist();
    this.#unwatch();
    await noteGeneration(this.#database, this.#schemaName, this.#grown);
  }
}
