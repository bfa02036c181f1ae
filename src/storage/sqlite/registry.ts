import { dirname, join } from 'node:path';
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
import { ProcessLock } from './cluster/exclusive-access.ts';
import { RegistryFile } from './registry/registry-file.ts';

const readStores = 'SELECT id AS systemId, appId, birth, generation, missingSince, noticedAt, damagedAt FROM systems';

const current = Promise.resolve();

/** The registry of the embedded engine. */
export class SqliteRegistry implements Registry {
  readonly #file: RegistryFile;
  readonly #deletionLock: string;

  /**
   * Opens the file, making it where there is none.
   * @param conditions told of faults that can pass
   * @param missing told since when changes may be missing, in milliseconds since 1970
   */
  constructor(path: string, conditions?: Pick<Conditions, 'met' | 'over'>, missing?: (since: number) => void) {
    this.#file = new RegistryFile(path, conditions, missing);
    this.#deletionLock = join(dirname(path), 'deletion.lock');
  }

  get salt(): string {
    return this.#file.salt;
  }

  async takeSalt(salt: string): Promise<boolean> {
    const sql = 'UPDATE installation SET salt = ? WHERE NOT EXISTS (SELECT 1 FROM systems)';
    const taken = await this.#file.transact(() => this.#file.change(sql, salt));
    if (taken) this.#file.tookSalt(salt);
    return taken;
  }

  moved(): MovedMark | null {
    const sql = 'SELECT movedTo AS "to", movedAt AS at FROM installation WHERE movedTo IS NOT NULL';
    return this.#file.all<MovedMark>(sql)[0] ?? null;
  }

  async markMoved(mark: MovedMark | null): Promise<void> {
    const sql = 'UPDATE installation SET movedTo = ?, movedAt = ?';
    await this.#file.transact(() => this.#file.change(sql, mark?.to ?? null, mark?.at ?? null));
  }

  /** `version` looks for itself. */
  whenCurrent(): Promise<void> {
    return current;
  }

  isCurrent(): boolean {
    return true;
  }

  version(): number {
    return this.#file.version();
  }

  read(): RegistryContent {
    const columns = 'id, appId, name, createdAt, masterKeyHash';
    const order = 'ORDER BY createdAt, appId';
    return {
      systems: this.#file.all<SystemEntry>(`SELECT ${columns} FROM systems WHERE deleteAfter IS NULL ${order}`),
      removed: this.#file.all<RemovedSystem>(
        `SELECT ${columns}, deleteAfter FROM systems WHERE deleteAfter IS NOT NULL ${order}`,
      ),
      keys: this.#file.all<KeyEntry>('SELECT appId, name, hash, createdAt FROM keys ORDER BY createdAt, name'),
    };
  }

  addSystem(
    system: SystemEntry | RemovedSystem,
    keys: readonly KeyEntry[],
    prepare: () => Promise<PreparedStore | undefined>,
    onlyFirst = false,
  ): Promise<boolean> {
    return this.#file.transact(async () => {
      if (onlyFirst && this.#file.has('SELECT 1 FROM systems')) return false;
      const { id, appId, name, createdAt, masterKeyHash } = system;
      const added = this.#file.change(
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
        this.#file.change(known, identity.birth, identity.generation, identity.noticedAt ?? null, id);
      }
      return true;
    });
  }

  removeSystem(appId: string, deleteAfter: number): Promise<boolean> {
    const sql = `UPDATE systems SET deleteAfter = ?1 WHERE appId = ?2 COLLATE BINARY AND (deleteAfter IS NULL OR deleteAfter > ?1)`;
    return this.#file.transact(() => this.#file.change(sql, deleteAfter, appId));
  }

  restoreSystem(appId: string, now: number): Promise<boolean> {
    const sql = 'UPDATE systems SET deleteAfter = NULL WHERE appId = ? COLLATE BINARY AND deleteAfter > ?';
    return this.#file.transact(() => this.#file.change(sql, appId, now));
  }

  async deleteSystem(appId: string, now: number, work: () => Promise<void>): Promise<boolean> {
    const lock = ProcessLock.tryTake(this.#deletionLock);
    if (!lock) return false;
    try {
      const begin = 'UPDATE systems SET deleteAfter = 0 WHERE appId = ? COLLATE BINARY AND deleteAfter <= ?';
      if (!(await this.#file.transact(() => this.#file.change(begin, appId, now)))) return false;
      await work();
      const end = 'DELETE FROM systems WHERE appId = ? COLLATE BINARY AND deleteAfter = 0';
      return await this.#file.transact(() => this.#file.change(end, appId));
    } finally {
      lock.release();
    }
  }

  forgetSystem(appId: string): Promise<boolean> {
    return this.#file.transact(() => this.#file.change('DELETE FROM systems WHERE appId = ? COLLATE BINARY', appId));
  }

  async storeOf(appId: string): Promise<KnownStore | null> {
    return this.#file.all<KnownStore>(`${readStores} WHERE appId = ? COLLATE BINARY`, appId)[0] ?? null;
  }

  async stores(): Promise<readonly KnownStore[]> {
    return this.#file.all<KnownStore>(`${readStores} ORDER BY createdAt, appId`);
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
    this.#file.note((db) => db.prepare(sql).run(systemId, ...values));
  }

  addKey(key: KeyEntry): Promise<boolean> {
    return this.#file.transact(() => this.#insertKey(key));
  }

  removeKey(appId: string, name: string): Promise<boolean> {
    return this.#file.transact(() => this.#file.change('DELETE FROM keys WHERE appId = ? AND name = ?', appId, name));
  }

  async noteUses(uses: readonly KeyUse[]): Promise<void> {
    const sql = 'UPDATE keys SET lastUsedAt = ?1 WHERE appId = ?2 AND name = ?3 AND (lastUsedAt IS NULL OR lastUsedAt < ?1)';
    this.#file.note((db) => {
      const note = db.prepare(sql);
      db.exec('BEGIN IMMEDIATE');
      try {
        for (const { appId, name, at } of uses) note.run(at, appId, name);
        db.exec('COMMIT');
      } finally {
        if (db.isTransaction) db.exec('ROLLBACK');
      }
    });
  }

  async lastUses(appId: string): Promise<readonly KeyUse[]> {
    const sql = 'SELECT appId, name, lastUsedAt AS at FROM keys WHERE appId = ? AND lastUsedAt IS NOT NULL';
    return this.#file.all<KeyUse>(sql, appId);
  }

  close(): void {
    this.#file.close();
  }

  #insertKey({ appId, name, hash, createdAt }: KeyEntry): boolean {
    return this.#file.change(
      'INSERT OR IGNORE INTO keys (appId, name, hash, createdAt) SELECT appId, ?, ?, ? FROM systems WHERE appId = ? COLLATE BINARY',
      name,
      hash,
      createdAt,
      appId,
    );
  }
}
