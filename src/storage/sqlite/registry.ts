import { randomBytes } from 'node:crypto';
import { chmodSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import type { KeyEntry, Registry, RegistryContent, SystemEntry } from '../registry.ts';

// Case of letters does not tell application ids apart where they name directories, so none may differ by it alone.
const tables = `
CREATE TABLE IF NOT EXISTS installation (salt TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS systems (
  id TEXT NOT NULL UNIQUE, appId TEXT NOT NULL PRIMARY KEY COLLATE NOCASE, name TEXT NOT NULL,
  createdAt INTEGER NOT NULL, masterKeyHash TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS keys (
  appId TEXT NOT NULL REFERENCES systems (appId) ON DELETE CASCADE, name TEXT NOT NULL, hash TEXT NOT NULL, createdAt INTEGER NOT NULL,
  PRIMARY KEY (appId, name)
);
`;

/** How long to wait for another process that adds a system, in milliseconds. */
const BUSY_TIMEOUT = 30_000;

/** The registry of the embedded engine: a SQLite file that only its owner may read. */
export class SqliteRegistry implements Registry {
  readonly salt: string;
  readonly #db: DatabaseSync;
  readonly #dataVersion: StatementSync;
  /** Own commits, which SQLite's data_version does not count. */
  #ownChanges = 0;
  #last: Promise<unknown> = Promise.resolve();

  /** Opens the file, making it where there is none. */
  constructor(path: string) {
    this.#db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT, enableForeignKeyConstraints: true });
    chmodSync(path, 0o600);
    this.#db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; ${tables}`);
    const salt = randomBytes(24).toString('base64url');
    this.#db.prepare('INSERT INTO installation SELECT ? WHERE NOT EXISTS (SELECT 1 FROM installation)').run(salt);
    this.salt = String(this.#db.prepare('SELECT salt FROM installation').get()?.salt);
    this.#dataVersion = this.#db.prepare('PRAGMA data_version');
    this.#dataVersion.setReturnArrays(true);
  }

  version(): number {
    const [version] = this.#dataVersion.get() as unknown as [number];
    return version + this.#ownChanges;
  }

  read(): RegistryContent {
    return {
      systems: this.#all<SystemEntry>('SELECT id, appId, name, createdAt, masterKeyHash FROM systems ORDER BY createdAt, appId'),
      keys: this.#all<KeyEntry>('SELECT appId, name, hash, createdAt FROM keys ORDER BY createdAt, name'),
    };
  }

  addSystem(system: SystemEntry, keys: readonly KeyEntry[], prepare: () => Promise<void>): Promise<boolean> {
    return this.#transact(async () => {
      const { id, appId, name, createdAt, masterKeyHash } = system;
      const added = this.#change(
        'INSERT OR IGNORE INTO systems (id, appId, name, createdAt, masterKeyHash) VALUES (?, ?, ?, ?, ?)',
        id,
        appId,
        name,
        createdAt,
        masterKeyHash,
      );
      if (!added) return false;
      for (const key of keys) this.#insertKey(key);
      await prepare();
      return true;
    });
  }

  removeSystem(appId: string): Promise<boolean> {
    return this.#transact(() => this.#change('DELETE FROM systems WHERE appId = ? COLLATE BINARY', appId));
  }

  addKey(key: KeyEntry): Promise<boolean> {
    return this.#transact(() => this.#insertKey(key));
  }

  removeKey(appId: string, name: string): Promise<boolean> {
    return this.#transact(() => this.#change('DELETE FROM keys WHERE appId = ? AND name = ?', appId, name));
  }

  close(): void {
    this.#db.close();
  }

  /** Runs work in a transaction of its own, after those before it. */
  #transact<T>(work: () => T | Promise<T>): Promise<T> {
    const done = this.#last.then(async () => {
      this.#db.exec('BEGIN IMMEDIATE');
      try {
        const result = await work();
        this.#db.exec('COMMIT');
        // Only now: until the commit nobody here may take the content for the registry's.
        this.#ownChanges++;
        return result;
      } catch (error) {
        this.#db.exec('ROLLBACK');
        throw error;
      }
    });
    this.#last = done.catch(() => {});
    return done;
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
    return Number(this.#db.prepare(sql).run(...values).changes) > 0;
  }

  #all<Row>(sql: string): Row[] {
    return this.#db.prepare(sql).all() as unknown as Row[];
  }
}
