import type { DatabaseSync } from 'node:sqlite';
import { newObjectId } from '../../kernel/ids.ts';
import type { Schema } from '../../schema/model.ts';
import type { KeyVersion, PreparedWrite, Store, WriteOutcome, WritePlan } from '../port.ts';
import { Recovery } from '../recovery.ts';
import type { RowContext } from '../sql/shape.ts';
import { Connection } from './connection.ts';
import { SqliteContents } from './contents.ts';
import type { ReaderPool, ReportFault } from './reads/pool.ts';
import { SqliteReader } from './reads/reader.ts';
import { catalogVersion, loadSchema, removalsQuery } from './schema/catalog.ts';
import { catalogMigrations, migrate } from './schema/migrations.ts';
import { GroupCommit } from './writes/group-commit.ts';
import { carryOutPlan } from './writes/plan.ts';
import { isRebuild, rebuildOnThread } from './writes/rebuild.ts';
import { inSavepoint, isWhole, withoutSavepoint } from './writes/savepoint.ts';

/** How soon reads notice that another process (an import, say) changed the schema, in milliseconds. Writes notice at once. */
const NOTICE_WITHIN = 100;
/** KiB of pages kept where many records are written in one commit: those of the indexes, which are met in no order. */
const LOADING_CACHE = 128_000;
/** Writes between two checkpoints. */
const CHECKPOINT_EVERY = 2_000;

/** Of this process. */
const processId = newObjectId();

/** What a store stands on. */
export interface SqliteStoreSettings extends RowContext {
  readonly pool: ReaderPool;
  /** Told of writes that nobody waits for and that failed. */
  readonly report: ReportFault;
}

/** One system on one SQLite file: a connection that writes and answers the short reads, and reader threads for the rest. */
export class SqliteStore implements Store {
  readonly reader: SqliteReader;
  readonly contents: SqliteContents;
  readonly processId = processId;
  readonly #connection: Connection;
  readonly #commits: GroupCommit;
  readonly #path: string;
  #schema: Schema;
  /** SQLite's count of other connections' commits, and the schema's counts of its changes, when the schema was read. */
  #foreignCommits = 0;
  #catalogVersion = 0;
  #removals = 0;
  #noticedAt = 0;
  #sinceCheckpoint = 0;
  #checkpointing = false;
  readonly #settings: SqliteStoreSettings;
  /** Writes by table, and what may have changed any of them: commits of others, commits that failed. */
  readonly #writesTo = new Map<string, number>();
  #upheavals = 0;
  readonly #recovery: Recovery;

  /** Opens the file, making it where there is none. */
  constructor(path: string, settings: SqliteStoreSettings) {
    this.#path = path;
    this.#settings = settings;
    this.#connection = new Connection(path, 'write');
    migrate(this.#connection.db, catalogMigrations, path);
    this.#schema = this.#load();
    this.#commits = new GroupCommit(this.#connection, {
      began: () => this.#notice(),
      committed: (writes) => this.#countWrites(writes),
      rolledBack: () => {
        this.#upheavals++;
        this.#schema = this.#load();
      },
      overflowed: () => settings.report('too many writes that nobody waits for are waiting: further ones are dropped'),
    });
    this.#recovery = new Recovery(() => this.#commits.run(() => {}));
    this.contents = new SqliteContents(this.#connection, this.#commits);
    const planned = { removals: () => this.#removals, notice: () => this.#notice() };
    this.reader = new SqliteReader(path, this.#connection, settings.pool, planned, settings);
  }

  schema(): Schema {
    const now = performance.now();
    if (now - this.#noticedAt > NOTICE_WITHIN) {
      this.#noticedAt = now;
      this.#notice();
    }
    return this.#schema;
  }

  /** `schema` and `tableVersion` look for themselves. */
  whenCurrent(): undefined {}

  async write(write: PreparedWrite): Promise<WriteOutcome> {
    const planned = this.schema();
    const plan = write.plan(planned);
    if (isRebuild(this.#connection, plan, planned)) {
      // A write before it may have changed the schema as it would have.
      const isDue = () => isRebuild(this.#connection, write.plan(this.schema()), this.#schema);
      const outcome = await this.#commits.aloneWhere(isDue, () => this.#rebuild(write));
      return outcome ?? this.write(write);
    }
    const carryOut = () => this.#carryOut(this.#schema === planned ? plan : write.plan(this.#schema));
    // A row that is about to be written may point at what a delete takes.
    return this.#commits.run(
      carryOut,
      plan.mutations.some(({ kind }) => kind === 'delete'),
    );
  }

  writeBehind(write: PreparedWrite): void {
    this.#commits.runBehind(() => {
      try {
        this.#carryOut(write.plan(this.#schema));
      } catch (error) {
        if (!this.#connection.db.isTransaction) throw error;
        this.#settings.report(`a write that nobody waits for failed: ${(error as Error).message}`);
      }
    });
  }

  tableVersion(className: string): number {
    // What other processes wrote is noticed there.
    this.schema();
    return this.#upheavals + (this.#writesTo.get(className) ?? 0);
  }

  /** No other process serves the system. */
  async keyVersions(): Promise<readonly KeyVersion[]> {
    return [];
  }

  async claim(): Promise<boolean> {
    return true;
  }

  async peers(): Promise<ReadonlySet<string>> {
    return new Set([this.processId]);
  }

  async inOneCommit<T>(work: (store: Store) => Promise<T>): Promise<T> {
    this.#connection.keepPages(LOADING_CACHE);
    let writes = 0;
    const within: Store = {
      reader: this.reader,
      contents: this.contents,
      schema: () => this.#schema,
      whenCurrent: () => undefined,
      tableVersion: (className) => this.tableVersion(className),
      writeBehind: (write) => this.writeBehind(write),
      write: async (write) => {
        // A full disk ends the transaction; what came after it would be on its own.
        if (!this.#connection.db.isTransaction) throw new Error('the commit has failed');
        writes++;
        return this.#carryOut(write.plan(this.#schema));
      },
      keyVersions: () => this.keyVersions(),
      claim: () => this.claim(),
      processId: this.processId,
      peers: () => this.peers(),
      inOneCommit: (inner) => inner(within),
      whenBack: () => this.whenBack(),
      close: async () => {},
    };
    const result = await this.#commits.whole(() => work(within));
    this.#countWrites(writes);
    return result;
  }

  whenBack(): Promise<void> {
    return this.#recovery.whenBack();
  }

  #carryOut(plan: WritePlan): WriteOutcome {
    const connection = this.#connection;
    const work = (part: WritePlan) => carryOutPlan(connection, part, this.#schema, this.#settings);
    const isSimple = isWhole(plan);
    const { schema, outcome } = isSimple ? withoutSavepoint(connection, plan, work) : inSavepoint(connection, () => work(plan));
    this.#schema = schema;
    for (const { kind, table } of plan.mutations)
      if (kind !== 'require') this.#writesTo.set(table.className, (this.#writesTo.get(table.className) ?? 0) + 1);
    if (plan.changes.length > 0) this.#countChanges();
    return outcome;
  }

  async #rebuild(write: PreparedWrite): Promise<WriteOutcome> {
    this.#notice();
    try {
      const version = catalogVersion(this.#connection.db);
      const addresses = this.#settings.addresses();
      return await rebuildOnThread({ path: this.#path, plan: write.plan(this.#schema), catalogVersion: version, addresses });
    } finally {
      this.#notice();
    }
  }

  /** Reads the schema anew where another process has changed it. */
  #notice(): void {
    const [commits] = this.#connection.first({ text: 'PRAGMA data_version', params: [] }) as [number];
    if (commits === this.#foreignCommits) return;
    this.#foreignCommits = commits;
    this.#upheavals++;
    if (catalogVersion(this.#connection.db) !== this.#catalogVersion) this.#schema = this.#load();
  }

  #load(): Schema {
    this.#countChanges();
    this.#connection.forgetPlans();
    return loadSchema(this.#connection.db);
  }

  #countChanges(): void {
    this.#catalogVersion = catalogVersion(this.#connection.db);
    [this.#removals] = this.#connection.first(removalsQuery) as [number];
  }

  #countWrites(writes: number): void {
    this.#sinceCheckpoint += writes;
    if (this.#sinceCheckpoint < CHECKPOINT_EVERY || this.#checkpointing) return;
    this.#sinceCheckpoint = 0;
    this.#checkpointing = true;
    void this.#settings.pool.checkpoint(this.#path).then(() => {
      this.#checkpointing = false;
    });
  }

  async close(): Promise<void> {
    this.#recovery.close();
    await this.#commits.close();
    await this.#settings.pool.forget(this.#path);
    checkpoint(this.#connection.db);
    this.#connection.close();
  }
}

/** Empties the write-ahead log into the database file, so that a closed system is one file. */
function checkpoint(db: DatabaseSync): void {
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
}
