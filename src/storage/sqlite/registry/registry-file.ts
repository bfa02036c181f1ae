import { randomBytes } from 'node:crypto';
import { chmodSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { unavailableSince } from '../../../errors/system-faults.ts';
import { OperatorError } from '../../../kernel/operator-error.ts';
import { requestTurn } from '../../../kernel/request-turn.ts';
import type { Conditions } from '../../../observe/index.ts';
import { sortedError, sorting, storeFaultOf } from '../connection/map-error.ts';
import { beginWriting } from '../connection/write-lock.ts';
import { fileAt, missingPart, PlacedFile } from '../file/placed-file.ts';
import type { WalMark } from '../file/wal-mark.ts';
import { migrate, registryMigrations } from '../schema/migrations.ts';
import { RegistryConnection } from './registry-connection.ts';
import { registryWalMark } from './registry-state.ts';

/** Milliseconds that a look for the file counts for, and those between two looks that nobody asks for. */
const LOOK_MS = 5;
const WATCH_MS = 1_000;

/** How long to wait for another process that adds a system, in milliseconds. */
const BUSY_TIMEOUT_MS = 30_000;
/** The same for a look, on the event loop: others hold no lock that keeps readers out but for a moment. */
const LOOK_TIMEOUT_MS = 20;

/** The file of the embedded engine's registry, with what connects to it: read, changed in transactions, and watched. Only its owner may read it. */
export class RegistryFile {
  #salt: string;
  readonly #writer: RegistryConnection;
  /** A connection of its own: it never sees what the other has not committed, and its data_version counts every commit. */
  readonly #reader: RegistryConnection;
  /** Statements of the reader, as it was opened last. */
  #dataVersion!: StatementSync;
  #changes!: StatementSync;
  /** The number of changes, as of a data_version. */
  #known = { dataVersion: Number.NaN, changes: 0 };
  /** As of `requestTurn`. */
  #lookedInTurn = 0;
  /** Notes of what may be lost: it waits neither for the disk nor for others. */
  readonly #notes: RegistryConnection;
  readonly #log: WalMark;
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
    this.#log = registryWalMark(path);
    const first = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
    try {
      chmodSync(path, 0o600);
      const since = this.#log.missingSince(first);
      this.#salt = prepare(first, path);
      if (since !== null) {
        missing(since);
        this.#begin(first);
      }
      // From here on it is the event loop that would wait.
      const verify = (db: DatabaseSync) => this.#verify(db);
      this.#writer = new RegistryConnection(path, { timeout: 0, conditions, verify });
      this.#reader = new RegistryConnection(path, {
        timeout: LOOK_TIMEOUT_MS,
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
  #verify(db: DatabaseSync): void {
    const path = this.#path;
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

  /** The installation is another one from now on, whose salt is in the file. */
  tookSalt(salt: string): void {
    this.#salt = salt;
  }

  /** How often the registry was changed. @throws unavailable where that has never been read */
  version(): number {
    // Requests of a turn share a look: it takes a lock of the file, which is a large part of a short request's time.
    const turn = requestTurn();
    if (turn !== 0 && turn === this.#lookedInTurn) return this.#known.changes;
    this.#lookedInTurn = turn;
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

  /** Rows as they are committed. @throws unavailable */
  all<Row>(sql: string, ...values: SQLInputValue[]): Row[] {
    return sorting(() => this.#reader.use((db) => db.prepare(sql).all(...values))) as unknown as Row[];
  }

  /** Within `transact`. @returns whether a row was changed */
  change(sql: string, ...values: SQLInputValue[]): boolean {
    return this.#writer.use((db) => Number(db.prepare(sql).run(...values).changes)) > 0;
  }

  /** Within `transact`: the first row, as the transaction sees it. */
  one<Row>(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#writer.use((db) => db.prepare(sql).get(...values)) as Row | undefined;
  }

  /** Notes what may be lost. @throws unavailable */
  note(work: (db: DatabaseSync) => void): void {
    this.#look();
    sorting(() => this.#notes.use(work));
  }

  /** Runs work in a transaction of its own, after those before it. @throws what the work throws; unavailable */
  transact<T>(work: () => T | Promise<T>): Promise<T> {
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
      await beginWriting(db, BUSY_TIMEOUT_MS);
      return db;
    } catch (error) {
      this.#writer.failed(error);
      throw error;
    }
  }

  close(): void {
    clearInterval(this.#watch);
    this.#notes.close();
    this.#reader.close();
    this.#log.closing();
    this.#writer.close();
    this.#log.closed();
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
