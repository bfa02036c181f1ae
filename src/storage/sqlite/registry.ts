import { randomBytes } from 'node:crypto';
import { chmodSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import type { KeyEntry, Registry, RegistryContent, SystemEntry } from '../registry.ts';
import { migrate, registryMigrations } from './schema/migrations.ts';

/** How long to wait for another process that adds a system, in milliseconds. */
const BUSY_TIMEOUT = 30_000;

/** The registry of the embedded engine: a SQLite file that only its owner may read. */
export class SqliteRegistry implements Registry {
  #salt: string;
  readonly #writer: DatabaseSync;
  /** A connection of its own: it never sees what the other has not committed, and its data_version counts every commit. */
  readonly #reader: DatabaseSync;
  readonly #dataVersion: StatementSync;
  #last: Promise<unknown> = Promise.resolve();

  /** Opens the file, making it where there is none. */
  constructor(path: string) {
    this.#writer = new DatabaseSync(path, { timeout: BUSY_TIMEOUT, enableForeignKeyConstraints: true });
    chmodSync(path, 0o600);
    this.#writer.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
    migrate(this.#writer, registryMigrations, path);
    const salt = randomBytes(24).toString('base64url');
    this.#writer.prepare('INSERT INTO installation SELECT ? WHERE NOT EXISTS (SELECT 1 FROM installation)').run(salt);
    this.#reader = new DatabaseSync(path, { timeout: BUSY_TIMEOUT, readOnly: true });
    this.#salt = String(this.#reader.prepare('SELECT salt FROM installation').get()?.salt);
    this.#dataVersion = this.#reader.prepare('PRAGMA data_version');
    this.#dataVersion.setReturnArrays(true);
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

  /** `version` looks for itself. */
  whenCurrent(): undefined {}

  version(): number {
    const [version] = this.#dataVersion.get() as unknown as [number];
    return version;
  }

  read(): RegistryContent {
    return {
      systems: this.#all<SystemEntry>('SELECT id, appId, name, createdAt, masterKeyHash FROM systems ORDER BY createdAt, appId'),
      keys: this.#all<KeyEntry>('SELECT appId, name, hash, createdAt FROM keys ORDER BY createdAt, name'),
    };
  }

  addSystem(system: SystemEntry, keys: readonly KeyEntry[], prepare: () => Promise<void>, onlyFirst = false): Promise<boolean> {
    return this.#transact(async () => {
      if (onlyFirst && this.#writer.prepare('SELECT 1 FROM systems').get()) return false;
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
    this.#reader.close();
    this.#writer.close();
  }

  /** Runs work in a transaction of its own, after those before it. */
  #transact<T>(work: () => T | Promise<T>): Promise<T> {
    const done = this.#last.then(async () => {
      this.#writer.exec('BEGIN IMMEDIATE');
      try {
        const result = await work();
        this.#writer.exec('COMMIT');
        return result;
      } catch (error) {
        this.#writer.exec('ROLLBACK');
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
    return Number(this.#writer.prepare(sql).run(...values).changes) > 0;
  }

  #all<Row>(sql: string): Row[] {
    return this.#reader.prepare(sql).all() as unknown as Row[];
  }
}
