import { randomBytes } from 'node:crypto';
import { chmodSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { unavailableSince } from '../../../errors/system-faults.ts';
import { OperatorError } from '../../../kernel/operator-error.ts';
import { requestTurn } from '../../../kernel/request-turn.ts';
import type { Conditions } from '../../../observe/index.ts';
import { mapError, storeFaultOf, withMappedErrors } from '../connection/map-error.ts';
import { beginWriting } from '../connection/write-lock.ts';
import { fileAt, missingPart, PlacedFile } from '../file/placed-file.ts';
import type { WalMark } from '../file/wal-mark.ts';
import { migrate, registryMigrations } from '../schema/migrations.ts';
import { RegistryConnection } from './registry-connection.ts';
import { registryWalMark } from './registry-state.ts';

/** How long a check of the file's presence stays valid, and the interval of periodic checks. */
const CHECK_TTL_MS = 5;
const WATCH_INTERVAL_MS = 1_000;

/** How long to wait for another process that adds a system. */
const BUSY_TIMEOUT_MS = 30_000;
/** The same for a read, which blocks the event loop. Others exclude readers only for moments. */
const READ_TIMEOUT_MS = 20;

/** The registry file of the embedded engine with its connections: reads, transactions, and a watch on its presence. Only its owner may read it. */
export class RegistryFile {
  #salt: string;
  readonly #writer: RegistryConnection;
  /** A separate connection never sees uncommitted changes of the writer, and its data_version counts every commit. */
  readonly #reader: RegistryConnection;
  /** Statements of the reader, prepared when it was last opened. */
  #dataVersion!: StatementSync;
  #changes!: StatementSync;
  /** The number of changes, read at a data_version. */
  #known = { dataVersion: Number.NaN, changes: 0 };
  /** Turn of the event loop (`requestTurn`) of the last check. */
  #checkedInTurn = 0;
  /** Connection for updates that may be lost. It waits neither for the disk nor for others. */
  readonly #notes: RegistryConnection;
  readonly #log: WalMark;
  #last: Promise<unknown> = Promise.resolve();
  readonly #path: string;
  readonly #place: PlacedFile;
  readonly #watch: NodeJS.Timeout;
  #checkedAt = Number.NEGATIVE_INFINITY;
  /** Whether the open file may no longer be at its path. */
  #isGone = true;

  /**
   * Opens the file, creating it if there is none.
   * @param conditions receives transient faults
   * @param missing called with the time from which changes may be missing, in milliseconds since 1970
   */
  constructor(path: string, conditions?: Pick<Conditions, 'met' | 'over'>, missing: (since: number) => void = () => {}) {
    this.#path = path;
    this.#place = new PlacedFile(path);
    this.#log = registryWalMark(path);
    const first = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
    try {
      chmodSync(path, 0o600);
      const since = this.#log.missingSince(first);
      this.#salt = prepare(first, path);
      if (since !== null) {
        missing(since);
        this.#startLog(first);
      }
      // From here on, waiting would block the event loop.
      const verify = (db: DatabaseSync) => this.#verify(db);
      this.#writer = new RegistryConnection(path, { timeout: 0, conditions, verify });
      this.#reader = new RegistryConnection(path, {
        timeout: READ_TIMEOUT_MS,
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
      this.#watch = setInterval(() => this.#checkPlace(), WATCH_INTERVAL_MS).unref();
    } finally {
      first.close();
    }
  }

  /** Starts a new WAL that its mark covers, so that commands in other processes know it too. */
  #startLog(db: DatabaseSync): void {
    try {
      db.exec('UPDATE installation SET changes = changes + 1');
      this.#log.committed(db);
    } catch (error) {
      if (!storeFaultOf(error)) throw error;
    }
  }

  /** Checks that the file is in place. Writes to a file that was taken away are lost, and so may be those without its WAL or the WAL's index. */
  #checkPlace(): void {
    const now = performance.now();
    if (now - this.#checkedAt < CHECK_TTL_MS) return;
    this.#checkedAt = now;
    const found = this.#place.check();
    if (found === 'there') return;
    this.#isGone = true;
    // Close all: the last one saves what exists only in a WAL that was removed.
    for (const connection of [this.#notes, this.#reader, this.#writer]) connection.failed(missingPart(this.#path, found).cause);
  }

  /** Checks that an opened file is still the same registry. Another one may have been put in its place, for which the key hashes are invalid. */
  #verify(db: DatabaseSync): void {
    const path = this.#path;
    if (db.prepare('SELECT salt FROM installation').get()?.salt !== this.#salt)
      throw unavailableSince(Object.assign(new Error(`${path} is another registry`), { errcode: 1032 }));
    // A connection that is reopened because of its own fault opens the same file as the others.
    if (!this.#isGone) return;
    const file = fileAt(path);
    if (file && this.#place.isAnother(file)) this.#log.fileReplaced();
    this.#place.opened();
    this.#isGone = false;
  }

  /** A new reader counts the commits of others from the start. */
  #opened(db: DatabaseSync): void {
    this.#dataVersion = db.prepare('PRAGMA data_version');
    this.#dataVersion.setReturnArrays(true);
    this.#changes = db.prepare('SELECT changes FROM installation');
    if (!Number.isNaN(this.#known.dataVersion)) this.#known = { ...this.#known, dataVersion: -1 };
  }

  get salt(): string {
    return this.#salt;
  }

  /** Records that the installation has adopted the salt now in the file. */
  tookSalt(salt: string): void {
    this.#salt = salt;
  }

  /** Returns the number of changes of the registry. @throws unavailable if it has never been read */
  version(): number {
    // Requests of one turn share a check: it locks the file, which takes a large part of a short request's time.
    const turn = requestTurn();
    if (turn !== 0 && turn === this.#checkedInTurn) return this.#known.changes;
    this.#checkedInTurn = turn;
    this.#checkPlace();
    try {
      this.#reader.use(() => {
        const [dataVersion] = this.#dataVersion.get() as unknown as [number];
        if (dataVersion !== this.#known.dataVersion) this.#known = { dataVersion, changes: Number(this.#changes.get()?.changes) };
      });
    } catch (error) {
      // The last known state is used until the file can be read again.
      if (!storeFaultOf(error) || Number.isNaN(this.#known.dataVersion)) throw mapError(error);
    }
    return this.#known.changes;
  }

  /** Returns committed rows. @throws unavailable */
  all<Row>(sql: string, ...values: SQLInputValue[]): Row[] {
    return withMappedErrors(() => this.#reader.use((db) => db.prepare(sql).all(...values))) as unknown as Row[];
  }

  /** Executes a statement, within `transact`. @returns whether a row was changed */
  change(sql: string, ...values: SQLInputValue[]): boolean {
    return this.#writer.use((db) => Number(db.prepare(sql).run(...values).changes)) > 0;
  }

  /** Returns the first row as the transaction sees it, within `transact`. */
  one<Row>(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#writer.use((db) => db.prepare(sql).get(...values)) as Row | undefined;
  }

  /** Writes what may be lost in a crash. @throws unavailable */
  note(work: (db: DatabaseSync) => void): void {
    this.#checkPlace();
    withMappedErrors(() => this.#notes.use(work));
  }

  /** Runs work in a transaction, after the ones before it. @throws what the work throws; unavailable */
  transact<T>(work: () => T | Promise<T>): Promise<T> {
    const done = this.#last
      .then(async () => {
        const db = await this.#begun();
        try {
          const result = await work();
          this.#checkPlace();
          this.#writer.use(() => db.exec('UPDATE installation SET changes = changes + 1; COMMIT'));
          this.#log.committed(db);
          return result;
        } catch (error) {
          // A full or failing disk has ended the transaction already.
          if (db.isOpen && db.isTransaction) db.exec('ROLLBACK');
          throw error;
        }
      })
      .catch((error) => {
        throw mapError(error);
      });
    this.#last = done.catch(() => {});
    return done;
  }

  async #begun(): Promise<DatabaseSync> {
    this.#checkPlace();
    const db = this.#writer.use((open) => open);
    try {
      await beginWriting(db, BUSY_TIMEOUT_MS);
      return db;
    } catch (error) {
      this.#writer.failed(error);
      throw error;
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#watch);
    this.#notes.close();
    this.#reader.close();
    await this.#log.closing();
    this.#writer.close();
    await this.#log.closed();
  }
}

/** Creates or migrates the registry in a file. @returns the salt of its installation */
function prepare(db: DatabaseSync, path: string): string {
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  migrate(db, registryMigrations, path);
  const salt = randomBytes(24).toString('base64url');
  const first = 'INSERT INTO installation (salt) SELECT ? WHERE NOT EXISTS (SELECT 1 FROM installation)';
  // Without the salt the keys of its systems are worthless.
  if (!db.prepare('SELECT 1 FROM installation UNION SELECT 1 FROM systems').get()) db.prepare(first).run(salt);
  else if (!db.prepare('SELECT 1 FROM installation').get()) throw new OperatorError(`${path} is damaged: it has lost its salt`);
  return String(db.prepare('SELECT salt FROM installation').get()?.salt);
}
