import { fail } from '../../errors/fail.ts';
import { inDoubtSince, unavailableSince } from '../../errors/system-faults.ts';
import type { Schema } from '../../schema/model.ts';
import { deletesRecord, hasEdits } from '../column-values.ts';
import { observedReader } from '../observed-reader.ts';
import type { KeyVersion, PreparedWrite, Reader, Store, WriteOutcome, WritePlan } from '../port.ts';
import type { StoreSnapshot } from '../raw-access.ts';
import { recordForm } from '../sql/row-layout.ts';
import { storeWithin } from '../store-within.ts';
import { Checkpoints } from './checkpoints.ts';
import { embeddedCluster } from './cluster/cluster.ts';
import { Connection } from './connection/connection.ts';
import { receivedFault, storeFaultOf, withMappedErrors } from './connection/map-error.ts';
import type { WalLength } from './connection/statements.ts';
import { Availability } from './file/availability.ts';
import { recordGeneration } from './file/record-generation.ts';
import { SqliteRawAccess, withSnapshot } from './raw-access.ts';
import { DurableReads, openSnapshot } from './reads/durable-reads.ts';
import { SqliteReader } from './reads/reader.ts';
import { catalogVersion } from './schema/catalog.ts';
import { growGeneration } from './schema/identity.ts';
import { catalogMigrations, migrate } from './schema/migrations.ts';
import { SchemaCache } from './schema/schema-cache.ts';
import { LongEdit } from './sql/functions.ts';
import type { SqliteStoreSettings } from './store-settings.ts';
import { executePlan } from './writes/execute-mutation.ts';
import { fillInSteps } from './writes/fill-search-index.ts';
import { executeOnThread, hasLongValues, isLongSchemaChange, MAX_SHORT_EDIT_CHARS } from './writes/schema-change.ts';
import { inSavepoint, isAtomic, withoutSavepoint } from './writes/transaction.ts';
import { visibility } from './writes/visibility.ts';
import { WriteQueue } from './writes/write-queue.ts';

/** Page cache, in KiB, for many writes in one commit: index pages are accessed in random order. */
const BULK_CACHE_KIB = 128_000;

const current = Promise.resolve();

/** One system in one SQLite file: a connection that writes and executes short reads, and reader threads for the rest. */
export class SqliteStore implements Store {
  readonly reader: Reader;
  readonly raw: SqliteRawAccess;
  readonly cluster = embeddedCluster;
  readonly recordForm = () => recordForm(this.#known.catalogVersion, this.#settings);
  readonly place: string;
  readonly #connection: Connection;
  readonly #reads: DurableReads;
  readonly #commits: WriteQueue;
  readonly #checkpoints: Checkpoints;
  readonly #availability: Availability;
  readonly #path: string;
  readonly #known: SchemaCache;
  readonly #settings: SqliteStoreSettings;
  /** After the last commit; `null` if it is not known. */
  #walLength: WalLength | null = null;

  /** Opens the file, creating it if there is none. @throws unavailable */
  constructor(path: string, settings: SqliteStoreSettings) {
    this.#path = path;
    this.place = settings.place ?? '';
    this.#settings = settings;
    const { pool, appId, conditions, verify, onMissed, onDamaged } = settings;
    const availability = new Availability({
      path,
      about: { app: appId, file: path },
      ...(conditions && { conditions }),
      ...(verify && { verify }),
      ...(onMissed && { onMissed }),
      ...(onDamaged && { onDamaged }),
      onReopened: () => this.#known?.forget(),
      endReads: () => {
        this.#reads.drop();
        return pool.end(path);
      },
      check: async () => {
        const { fault } = await pool.maintain('check', path);
        if (fault) throw unavailableSince(receivedFault(fault));
      },
      probe: () => this.#probe(),
    });
    this.#availability = availability;
    let connection: Connection | undefined;
    try {
      const maxEditChars = () => (this.#known.isAlone ? Number.POSITIVE_INFINITY : MAX_SHORT_EDIT_CHARS);
      connection = new Connection(path, 'write', { events: availability, maxEditChars });
      this.#connection = connection;
      availability.opened(connection);
      withMappedErrors(() => migrate(this.#connection.db, catalogMigrations, path));
      const isInPlace = () => availability.isInPlace();
      this.#known = new SchemaCache(connection, isInPlace, () => this.#reads?.isHeld ?? false);
      this.#connection.disableLockWait();
    } catch (error) {
      availability.close();
      connection?.close();
      throw error;
    }
    this.#reads = new DurableReads(connection, () => openSnapshot(path, availability));
    this.#commits = new WriteQueue(connection, {
      ...visibility(this.#known, this.#reads, () => void pool.end(path)),
      appended: (log) => {
        this.#known.appended();
        this.#onAppended(log);
      },
      unflushed: (error) => this.#reportFault(error),
      isInPlace: (withinMs) => availability.isInPlace(withinMs),
      committed: (writes, ms) => this.#onCommit(writes, ms),
      busy: (error) => this.#reportFault(error),
      dropped: (error) => this.#dropped(error),
      whenBack: () => this.whenBack(),
    });
    this.#checkpoints = new Checkpoints(connection, this.#commits, pool, (fault) => this.#reportFault(receivedFault(fault)));
    this.raw = new SqliteRawAccess(connection, this.#commits);
    const planned = {
      removals: () => this.#known.removals,
      notice: () => this.#known.noticeQuietly(),
      changing: () => this.#commits.endOf(this.#known.unseen()),
      flushing: () => this.#commits.flushing,
      undoneCommits: () => this.#known.undoneCommits,
      onFailed: () => {
        const { opening } = availability;
        return (error: unknown) => availability.metOnThread(error, opening);
      },
    };
    const reader = new SqliteReader(path, this.#reads, settings.pool, planned, settings);
    this.reader = observedReader(reader, appId, settings.observations);
  }

  /** Whether the storage has failed with an I/O error and has not worked since. */
  get isAwayForIo(): boolean {
    return this.#availability.isAwayForIo;
  }

  /** Returns the known schema, even while the file cannot be read. */
  readonly schema = (): Schema => this.#known.current();

  durableSchema(): Schema {
    this.#known.current();
    return this.#known.durable;
  }

  /** `schema` and `tableVersion` check the file themselves. @throws unavailable if it is missing, damaged or another system's */
  whenCurrent(): Promise<void> {
    const { refusal } = this.#availability;
    return refusal ? Promise.reject(refusal) : current;
  }

  readonly isCurrent = (): boolean => !this.#availability.refusal;

  async write(write: PreparedWrite): Promise<WriteOutcome> {
    const planned = this.schema();
    const plan = write.plan(planned);
    if (hasLongValues(plan)) return this.#writeOnThread(write);
    if (isLongSchemaChange(this.#connection, plan, planned))
      // An earlier write may have made the same schema change.
      return this.#writeOnThread(write, () =>
        isLongSchemaChange(this.#connection, write.plan(this.schema()), this.#known.schema),
      );
    const execute = () => this.#execute(this.#known.schema === planned ? plan : write.plan(this.#known.schema));
    // A delete goes after all other writes: a row that is about to be written may point at its record.
    const written = this.#commits.run(execute, { order: write.order, afterAll: deletesRecord(plan) });
    const onThread = (error: unknown) => (error instanceof LongEdit ? this.#writeOnThread(write) : Promise.reject(error));
    return hasEdits(plan) ? written.catch(onThread) : written;
  }

  async #writeOnThread(write: PreparedWrite, isDue = () => true): Promise<WriteOutcome> {
    const outcome = await this.#commits.exclusiveIf(isDue, () => this.#executeOnThread(write), write.order);
    return outcome ?? this.write(write);
  }

  writeBehind(write: PreparedWrite): void {
    this.#commits.runBehind(() => {
      try {
        this.#execute(write.plan(this.#known.schema));
      } catch (error) {
        if (!this.#connection.isTransaction || storeFaultOf(error)) throw error;
        this.#settings.report(`a write that nobody waits for failed: ${(error as Error).message}`);
      }
    });
  }

  readonly tableVersion = (className: string): number => this.#known.tableVersion(className);

  /** No other process serves the system. */
  readonly keyVersions = async (): Promise<readonly KeyVersion[]> => [];

  fillSearchIndex(className: string, shouldStop: () => boolean): Promise<void> {
    const commits = this.#commits;
    const table = () => this.#known.schema.tables.get(className);
    const complete = () => void this.#execute({ changes: [{ kind: 'completeSearchIndex', className }], mutations: [] });
    return fillInSteps({ connection: this.#connection, commits, table, complete }, shouldStop);
  }

  async bulkTransaction<T>(work: (store: Store) => Promise<T>): Promise<T> {
    this.#connection.setCachePages(BULK_CACHE_KIB);
    const within = storeWithin(this, {
      schema: () => this.#known.schema,
      whenCurrent: () => this.whenCurrent(),
      write: async (write) => {
        // A full disk ends the transaction; later statements would commit on their own.
        if (!this.#connection.isTransaction) throw unavailableSince(new Error('the transaction has ended'));
        return this.#execute(write.plan(this.#known.schema));
      },
    });
    const result = await this.#commits.inOneTransaction(() => work(within));
    this.#onCommit();
    return result;
  }

  async withSnapshot<T>(work: (snapshot: StoreSnapshot) => Promise<T>): Promise<T> {
    const undone = this.#known.undoneCommits;
    const result = await withSnapshot(this.#path, work);
    // It has seen what was undone, and later commits may have overwritten that in the WAL.
    if ((await this.#commits.flushing) === false || this.#known.undoneCommits !== undone) fail('unavailable');
    return result;
  }

  readonly whenBack = () => this.#availability.recovery.whenBack();

  #execute(plan: WritePlan): WriteOutcome {
    const connection = this.#connection;
    const work = (part: WritePlan) => executePlan(connection, part, this.#known.schema, this.#settings);
    const done = isAtomic(plan) ? withoutSavepoint(connection, plan, work) : inSavepoint(connection, () => work(plan));
    this.#known.executed(plan, done.schema);
    return done.outcome;
  }

  /** @returns `null` if another process has changed the schema meanwhile: to be planned again */
  async #executeOnThread(write: PreparedWrite): Promise<WriteOutcome | null> {
    this.#known.notice();
    const { opening } = this.#availability;
    try {
      const version = this.#connection.use(catalogVersion);
      const addresses = this.#settings.addresses();
      // Only the data of a plan can be sent to a thread; callers may attach observers to it.
      const { conditions = [], changes, mutations } = write.plan(this.#known.schema);
      const plan = { conditions, changes, mutations };
      const outcome = await executeOnThread({ path: this.#path, plan, catalogVersion: version, addresses });
      if (!this.#availability.isInPlace()) throw inDoubtSince(new Error('the file was taken away while it was written to'));
      return outcome;
    } catch (error) {
      this.#availability.metOnThread(error, opening);
      throw error;
    } finally {
      this.#known.noticeQuietly();
      this.#onAppended(this.#connection.logLength());
      this.#onCommit();
    }
  }

  #onAppended(log: WalLength | null): void {
    this.#walLength = log;
    this.#checkpoints.onCommit(log);
  }

  /** Runs when a commit is durable. @param writes are observed, if any */
  #onCommit(writes = 0, ms = 0): void {
    if (writes > 0) this.#settings.observations?.observe({ kind: 'commit', writes, ms });
    if (this.#walLength) this.#settings.log?.committedOften(this.#walLength);
  }

  /** Handles a fault that the connection has not reported itself. */
  #reportFault(error: unknown): void {
    const fault = storeFaultOf(error);
    if (fault) this.#availability.met(fault, error);
    else this.#settings.report(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }

  #dropped(error?: unknown): void {
    const what = 'writes that nobody waits for are dropped';
    const { conditions, report, appId } = this.#settings;
    if (conditions) conditions.met(what, { app: appId, file: this.#path }, error);
    else report(what);
  }

  /** Makes a read and a small write. @throws unavailable */
  async #probe(): Promise<void> {
    this.#connection.use(catalogVersion);
    await this.#commits.run(() => this.#known.touch());
  }

  async close(): Promise<void> {
    const { grown, log } = this.#settings;
    const generation = await this.#commits.close(grown && (() => growGeneration(this.#connection.db)));
    if (generation !== null) await recordGeneration(generation, this.#connection.db, this.#settings);
    this.#availability.close();
    this.#reads.drop();
    await this.#settings.pool.end(this.#path);
    await this.#checkpoints.close();
    await log?.closing();
    try {
      // Leaves a closed system in a single file.
      if (this.#connection.isOpen) this.#connection.db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } catch {
      // The WAL stays; the next opening of the file reads it.
    }
    this.#connection.close();
    this.#commits.closed();
    await log?.closed();
    this.#settings.onClosed?.();
  }
}
