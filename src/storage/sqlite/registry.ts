import { randomBytes } from 'node:crypto';
import { chmodSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { unavailableSince } from '../../errors/system-faults.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { Conditions } from '../../observe/index.ts';
import type { KnownStore, StoreNote } from '../identity.ts';
import type {
  KeyEntry,
  KeyUse,
  MovedMark,
  PreparedStore,
  Registry,
  RegistryContent,
  RemovedSystem,
  SystemEntry,
} from '../registry.ts';
import { sortedError, sorting, storeFaultOf } from './faults.ts';
import { ProcessLock } from './lock.ts';
import type { LogMark } from './log-mark.ts';
import { missingPart, PlacedFile } from './placed-file.ts';
import { RegistryConnection } from './registry-connection.ts';
import { registryLog } from './registry-state.ts';
import { migrate, registryMigrations } from './schema/migrations.ts';
import { fileAt } from './storage-look.ts';
import { beginWriting } from './write-lock.ts';

/** Milliseconds that a look for the file counts for, and those between two looks that nobody asks for. */
const LOOK_MS = 5;
const WATCH_MS = 1_000;

/** How long to wait for another process that adds a system, in milliseconds. */
const BUSY_TIMEOUT = 30_000;
/** The same for a look, on the event loop: others hold no lock that keeps readers out but for a moment. */
const LOOK_TIMEOUT = 20;

const readStores = 'SELECT id AS systemId, appId, birth, generation, missingSince, noticedAt, damagedAt FROM systems';

/** The registry of the embedded engine: a SQLite file that only its owner may read. */
export class SqliteRegistry implements Registry {
  #salt: string;
  readonly #writer: RegistryConnection;
  /** A connection of its own: it never sees what the other has not committed, and its data_version counts every commit. */
  readonly #reader: RegistryConnection;
  /** Statements of the reader, as it was opened last. */
  #dataVersion!: StatementSync;
  #changes!: StatementSync;
  /** The number of changes, as of a data_version. */
  #known = { dataVersion: Number.NaN, changes: 0 };
  /** Whether requests of this turn of the event loop share a look, and whether it was taken. */
  #isLookShared = false;
  #isLookedAt = false;
  /** Notes of what may be lost: it waits neither for the disk nor for others. */
  readonly #notes: RegistryConnection;
  readonly #deletionLock: string;
  readonly #log: LogMark;
  #last: Promise<unknown> = Promise.resolve();

  readonly #path: string;
  readonly #place: PlacedFile;
  readonly #watch: NodeJS.Timeout;
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** Whether it is not known where the open file lies. */
  #isGone = true;

  /**
   * Opens the file, making it where there is none.
   * @param conditions told of faults that can pass
   * @param missing told since when changes may be missing, in milliseconds since 1970
   */
  constructor(path: string, conditions?: Pick<Conditions, 'met' | 'over'>, missing: (since: number) => void = () => {}) {
    this.#path = path;
    this.#place = new PlacedFile(path);
    this.#log = registryLog(path);
    const first = new DatabaseSync(path, { timeout: BUSY_TIMEOUT });
    try {
      chmodSync(path, 0o600);
      const since = this.#log.missingSince(first);
      this.#salt = prepare(first, path);
      if (since !== null) {
        missing(since);
        this.#begin(first);
      }
      // From here on it is the event loop that would wait.
      const verify = (db: DatabaseSync) => this.#verify(db, path);
      this.#writer = new RegistryConnection(path, { timeout: 0, conditions, verify });
      this.#reader = new RegistryConnection(path, {
        timeout: LOOK_TIMEOUT,
        isReader: true,
        conditions,
        verify: (db) => {
          verify(db);
          this.#opened(db);
        },
      });
      this.#notes = new RegistryConnection(path, {
        timeout: 0,
        conditions,
        verify: (db) => {
          verify(db);
          db.exec('PRAGMA synchronous = NORMAL');
        },
      });
      this.#watch = setInterval(() => this.#look(), WATCH_MS).unref();
    } finally {
      first.close();
    }
    this.#deletionLock = join(dirname(path), 'deletion.lock');
  }

  /** The log begins anew: it is known from now on, also to commands beside this process. */
  #begin(db: DatabaseSync): void {
    try {
      db.exec('UPDATE installation SET changes = changes + 1');
      this.#log.committed(db);
    } catch (error) {
      if (!storeFaultOf(error)) throw error;
    }
  }

  /** What is written to a file that was taken away is lost, and so may be what is written without its log or the log's index. */
  #look(): void {
    const now = performance.now();
    if (now - this.#lookedAt < LOOK_MS) return;
    this.#lookedAt = now;
    const found = this.#place.look();
    if (found === 'there') return;
    this.#isGone = true;
    // All of them are closed, the last of which saves what is only in a log that was removed.
    for (const connection of [this.#notes, this.#reader, this.#writer]) connection.failed(missingPart(this.#path, found).cause);
  }

  /** Another registry may have been put in its place meanwhile, whose keys would be worth nothing here. */
  #verify(db: DatabaseSync, path: string): void {
    if (db.prepare('SELECT salt FROM installation').get()?.salt !== this.#salt)
      throw unavailableSince(Object.assign(new Error(`${path} is another registry`), { errcode: 1032 }));
    // One that is opened anew by itself, for a fault of its own, is where the others are.
    if (!this.#isGone) return;
    const file = fileAt(path);
    if (file && this.#place.isAnother(file)) this.#log.isAnother();
    this.#place.opened();
    this.#isGone = false;
  }

  /** What counts others' commits begins anew. */
  #opened(db: DatabaseSync): void {
    this.#dataVersion = db.prepare('PRAGMA data_version');
    this.#dataVersion.setReturnArrays(true);
    this.#changes = db.prepare('SELECT changes FROM installation');
    if (!Number.isNaN(this.#known.dataVersion)) this.#known = { ...this.#known, dataVersion: -1 };
  }

  get salt(): string {
    return this.#salt;
  }

  async takeSalt(salt: string): Promise<boolean> {
    const sql = 'UPDATE installation SET salt = ? WHERE NOT EXISTS (SELECT 1 FROM systems)';
    const taken = await this.#transact(() => this.#change(sql, salt));
    if (taken) this.#salt = salt;
    return taken;
  }

  moved(): MovedMark | null {
    const sql = 'SELECT movedTo AS "to", movedAt AS at FROM installation WHERE movedTo IS NOT NULL';
    return this.#all<MovedMark>(sql)[0] ?? null;
  }

  async markMoved(mark: MovedMark | null): Promise<void> {
    const sql = 'UPDATE installation SET movedTo = ?, movedAt = ?';
    await this.#transact(() => this.#change(sql, mark?.to ?? null, mark?.at ?? null));
  }

  /** `version` looks for itself. */
  whenCurrent(): undefined {}

  version(): number {
    if (this.#isLookShared && this.#isLookedAt) return this.#known.changes;
    this.#isLookedAt = true;
    this.#look();
    try {
      this.#reader.use(() => {
        const [dataVersion] = this.#dataVersion.get() as unknown as [number];
        if (dataVersion !== this.#known.dataVersion) this.#known = { dataVersion, changes: Number(this.#changes.get()?.changes) };
      });
    } catch (error) {
      // What is known stands until more can be read.
      if (!storeFaultOf(error) || Number.isNaN(this.#known.dataVersion)) throw sortedError(error);
    }
    return this.#known.changes;
  }

  /** A look takes a lock of the file, which is a large part of a short request's time. */
  requestCame(): void {
    if (this.#isLookShared) return;
    this.#isLookShared = true;
    this.#isLookedAt = false;
    // Immediates follow the turn's sockets; timers, whose looks would be older than requests, come after.
    setImmediate(() => {
      this.#isLookShared = false;
    });
  }

  read(): RegistryContent {
    const columns = 'id, appId, name, createdAt, masterKeyHash';
    const order = 'ORDER BY createdAt, appId';
    return {
      systems: this.#all<SystemEntry>(`SELECT ${columns} FROM systems WHERE deleteAfter IS NULL ${order}`),
      removed: this.#all<RemovedSystem>(`SELECT ${columns}, deleteAfter FROM systems WHERE deleteAfter IS NOT NULL ${order}`),
      keys: this.#all<KeyEntry>('SELECT appId, name, hash, createdAt FROM keys ORDER BY createdAt, name'),
    };
  }

  addSystem(
    system: SystemEntry | RemovedSystem,
    keys: readonly KeyEntry[],
    prepare: () => Promise<PreparedStore | undefined>,
    onlyFirst = false,
  ): Promise<boolean> {
    return this.#transact(async () => {
      if (onlyFirst && this.#writer.db.prepare('SELECT 1 FROM systems').get()) return false;
      const { id, appId, name, createdAt, masterKeyHash } = system;
      const added = this.#change(
        'INSERT OR IGNORE INTO systems (id, appId, name, createdAt, masterKeyHash, deleteAfter) VALUES (?, ?, ?, ?, ?, ?)',
        id,
        appId,
        name,
        createdAt,
        masterKeyHash,
        'deleteAfter' in system ? system.deleteAfter : null,
      );
      if (!added) return false;
      for (const key of keys) this.#insertKey(key);
      const identity = await prepare();
      if (identity) {
        const known = 'UPDATE systems SET birth = ?, generation = ?, noticedAt = ? WHERE id = ?';
        this.#change(known, identity.birth, identity.generation, identity.noticedAt ?? null, id);
      }
      return true;
    });
  }

  removeSystem(appId: string, deleteAfter: number): Promise<boolean> {
    const sql = `UPDATE systems SET deleteAfter = ?1 WHERE appId = ?2 COLLATE BINARY AND (deleteAfter IS NULL OR deleteAfter > ?1)`;
    return this.#transact(() => this.#change(sql, deleteAfter, appId));
  }

  restoreSystem(appId: string, now: number): Promise<boolean> {
    const sql = 'UPDATE systems SET deleteAfter = NULL WHERE appId = ? COLLATE BINARY AND deleteAfter > ?';
    return this.#transact(() => this.#change(sql, appId, now));
  }

  async deleteSystem(appId: string, now: number, work: () => Promise<void>): Promise<boolean> {
    const lock = ProcessLock.tryTake(this.#deletionLock);
    if (!lock) return false;
    try {
      const begin = 'UPDATE systems SET deleteAfter = 0 WHERE appId = ? COLLATE BINARY AND deleteAfter <= ?';
      if (!(await this.#transact(() => this.#change(begin, appId, now)))) return false;
      await work();
      const end = 'DELETE FROM systems WHERE appId = ? COLLATE BINARY AND deleteAfter = 0';
      return await this.#transact(() => this.#change(end, appId));
    } finally {
      lock.release();
    }
  }

  forgetSystem(appId: string): Promise<boolean> {
    return this.#transact(() => this.#change('DELETE FROM systems WHERE appId = ? COLLATE BINARY', appId));
  }

  async storeOf(appId: string): Promise<KnownStore | null> {
    return this.#all<KnownStore>(`${readStores} WHERE appId = ? COLLATE BINARY`, appId)[0] ?? null;
  }

  async stores(): Promise<readonly KnownStore[]> {
    return this.#all<KnownStore>(`${readStores} ORDER BY createdAt, appId`);
  }

  async noteStore(systemId: string, { birth, generation, missingSince, noticedAt, damagedAt }: StoreNote): Promise<void> {
    const sql = `UPDATE systems SET birth = coalesce(?2, birth), generation = max(generation, coalesce(?3, 0)),
      noticedAt = coalesce(?5, noticedAt),
      missingSince = CASE WHEN ?4 < coalesce(missingSince, ?4 + 1) THEN ?4 ELSE missingSince END,
      damagedAt = CASE WHEN ?6 THEN ?7 ELSE damagedAt END WHERE id = ?1`;
    const isTold = damagedAt === undefined ? 0 : 1;
    const values = [
      birth ?? null,
      generation ?? null,
      missingSince ?? null,
      noticedAt ?? null,
      isTold,
      damagedAt ?? null,
    ] as const;
    this.#look();
    sorting(() => this.#notes.use((db) => db.prepare(sql).run(systemId, ...values)));
  }

  addKey(key: KeyEntry): Promise<boolean> {
    return this.#transact(() => this.#insertKey(key));
  }

  removeKey(appId: string, name: string): Promise<boolean> {
    return this.#transact(() => this.#change('DELETE FROM keys WHERE appId = ? AND name = ?', appId, name));
  }

  async noteUses(uses: readonly KeyUse[]): Promise<void> {
    const sql = 'UPDATE keys SET lastUsedAt = ?1 WHERE appId = ?2 AND name = ?3 AND (lastUsedAt IS NULL OR lastUsedAt < ?1)';
    this.#look();
    sorting(() =>
      this.#notes.use((db) => {
        const note = db.prepare(sql);
        db.exec('BEGIN IMMEDIATE');
        try {
          for (const { appId, name, at } of uses) note.run(at, appId, name);
          db.exec('COMMIT');
        } finally {
          if (db.isTransaction) db.exec('ROLLBACK');
        }
      }),
    );
  }

  async lastUses(appId: string): Promise<readonly KeyUse[]> {
    const sql = 'SELECT appId, name, lastUsedAt AS at FROM keys WHERE appId = ? AND lastUsedAt IS NOT NULL';
    return this.#all<KeyUse>(sql, appId);
  }

  close(): void {
    clearInterval(this.#watch);
    this.#notes.close();
    this.#reader.close();
    this.#log.closing();
    this.#writer.close();
    this.#log.closed();
  }

  /** Runs work in a transaction of its own, after those before it. */
  #transact<T>(work: () => T | Promise<T>): Promise<T> {
    const done = this.#last
      .then(async () => {
        const db = await this.#begun();
        try {
          const result = await work();
          this.#look();
          this.#writer.use(() => db.exec('UPDATE installation SET changes = changes + 1; COMMIT'));
          this.#log.committed(db);
          return result;
        } catch (error) {
          // A full disk or a failing one has ended it already.
          if (db.isOpen && db.isTransaction) db.exec('ROLLBACK');
          throw error;
        }
      })
      .catch((error) => {
        throw sortedError(error);
      });
    this.#last = done.catch(() => {});
    return done;
  }

  async #begun(): Promise<DatabaseSync> {
    this.#look();
    const db = this.#writer.use((open) => open);
    try {
      await beginWriting(db, BUSY_TIMEOUT);
      return db;
    } catch (error) {
      this.#writer.failed(error);
      throw error;
    }
  }

  #insertKey({ appId, name, hash, createdAt }: KeyEntry): boolean {
    return this.#change(
      'INSERT OR IGNORE INTO keys (appId, name, hash, createdAt) SELECT appId, ?, ?, ? FROM systems WHERE appId = ? COLLATE BINARY',
      name,
      hash,
      createdAt,
      appId,
    );
  }

  #change(sql: string, ...values: SQLInputValue[]): boolean {
    return this.#writer.use((db) => Number(db.prepare(sql).run(...values).changes)) > 0;
  }

  #all<Row>(sql: string, ...values: SQLInputValue[]): Row[] {
    return sorting(() => this.#reader.use((db) => db.prepare(sql).all(...values))) as unknown as Row[];
  }
}

/** Makes a registry of a file, or of that of an earlier version. @returns the salt of its installation */
function prepare(db: DatabaseSync, path: string): string {
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  migrate(db, registryMigrations, path);
  const salt = randomBytes(24).toString('base64url');
  const first = 'INSERT INTO installation (salt) SELECT ? WHERE NOT EXISTS (SELECT 1 FROM installation)';
  // Without it the keys of its systems are worth nothing.
  if (!db.prepare('SELECT 1 FROM installation UNION SELECT 1 FROM systems').get()) db.prepare(first).run(salt);
  else if (!db.prepare('SELECT 1 FROM installation').get()) throw new OperatorError(`${path} is damaged: it has lost its salt`);
  return String(db.prepare('SELECT salt FROM installation').get()?.salt);
}
