import { dirname, join } from 'node:path';
import type { Conditions } from '../../observe/index.ts';
import type { KnownStore, StoreNote } from '../identity.ts';
import { nameBeside } from '../places.ts';
import type {
  Addition,
  BackupTurn,
  Exchange,
  KeyEntry,
  KeyUse,
  MovedMark,
  PreparedStore,
  Registry,
  RegistryAct,
  RegistryContent,
  RemovedSystem,
  SystemEntry,
} from '../registry.ts';
import { ProcessLock } from './cluster/exclusive-access.ts';
import { RegistryFile } from './registry/registry-file.ts';

const readStores = `SELECT id AS systemId, coalesce(formerAppId, appId) AS appId, coalesce(place, appId) AS place,
  birth, generation, missingSince, noticedAt, damagedAt FROM systems`;

const current = Promise.resolve();

/** The registry of the embedded engine. */
export class SqliteRegistry implements Registry {
  readonly #file: RegistryFile;
  readonly #deletionLock: string;

  /**
   * Opens the file, creating it if there is none.
   * @param conditions receives transient faults
   * @param missing called with the time from which changes may be missing, in milliseconds since 1970
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

  /** `version` checks the file itself. */
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
    const columns = 'id, appId, coalesce(place, appId) AS place, name, createdAt, masterKeyHash, heldAt, keySalt';
    const order = 'ORDER BY createdAt, appId';
    return {
      systems: this.#file.all<SystemEntry>(`SELECT ${columns} FROM systems WHERE deleteAfter IS NULL ${order}`),
      removed: this.#file.all<RemovedSystem>(
        `SELECT ${columns}, formerAppId, deleteAfter FROM systems WHERE deleteAfter IS NOT NULL ${order}`,
      ),
      keys: this.#file.all<KeyEntry>('SELECT appId, name, hash, createdAt FROM keys ORDER BY createdAt, name'),
    };
  }

  addSystem(
    system: SystemEntry | RemovedSystem,
    keys: readonly KeyEntry[],
    prepare: () => Promise<PreparedStore | undefined>,
    { onlyFirst = false, replace, act, original }: Addition = {},
  ): Promise<boolean> {
    return this.#file.transact(async () => {
      if (onlyFirst && this.#file.one('SELECT 1 FROM systems')) return false;
      const { id, appId } = system;
      const isRemoved = 'deleteAfter' in system;
      if (replace) this.#putAside(appId, replace);
      else if (!isRemoved && this.#file.one('SELECT 1 FROM systems WHERE formerAppId = ? COLLATE NOCASE', appId)) return false;
      const values = { ...system, place: system.place === appId ? null : system.place };
      const { formerAppId, deleteAfter } = isRemoved ? system : { formerAppId: null, deleteAfter: null };
      const added = this.#file.change(
        `INSERT OR IGNORE INTO systems (id, appId, place, name, createdAt, masterKeyHash, heldAt, keySalt, formerAppId, deleteAfter)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        ...[id, appId, values.place, values.name, values.createdAt, values.masterKeyHash, values.heldAt, values.keySalt],
        ...[formerAppId, deleteAfter],
      );
      if (!added) return false;
      for (const key of keys) this.#insertKey(key);
      this.#note(appId, act);
      if (original) this.#note(original.appId, original.act);
      const identity = await prepare();
      if (identity) {
        const { formerSystemId } = identity;
        if (formerSystemId !== undefined)
          this.#file.change('UPDATE undelivered_acts SET systemId = ? WHERE systemId = ?', id, formerSystemId);
        const known = 'UPDATE systems SET birth = ?, generation = ?, noticedAt = ? WHERE id = ?';
        this.#file.change(known, identity.birth, identity.generation, identity.noticedAt ?? null, id);
      }
      return true;
    });
  }

  removeSystem(appId: string, deleteAfter: number, act?: RegistryAct): Promise<boolean> {
    const sql = `UPDATE systems SET deleteAfter = ?1 WHERE appId = ?2 COLLATE BINARY AND (deleteAfter IS NULL OR deleteAfter > ?1)`;
    return this.#file.transact(() => this.#noted(appId, act, this.#file.change(sql, deleteAfter, appId)));
  }

  restoreSystem(appId: string, now: number, replace?: Exchange, act?: RegistryAct): Promise<boolean> {
    const find = 'SELECT id, coalesce(formerAppId, appId) AS own FROM systems WHERE appId = ? COLLATE BINARY AND deleteAfter > ?';
    const other = 'SELECT appId, deleteAfter FROM systems WHERE appId = ? AND id <> ?';
    const restore = 'UPDATE systems SET appId = ?, formerAppId = NULL, deleteAfter = NULL WHERE id = ?';
    return this.#file.transact(() => {
      const found = this.#file.one<{ id: string; own: string }>(find, appId, now);
      if (!found) return false;
      const { id, own } = found;
      const there = this.#file.one<Pick<RemovedSystem, 'deleteAfter'>>(other, own, id);
      if (there && there.deleteAfter === null && !replace) return false;
      if (there && !this.#putAside(own, replace ?? { deleteAfter: now, now })) return false;
      this.#rename(appId, own);
      return this.#noted(own, act, this.#file.change(restore, own, id));
    });
  }

  holdSystem(appId: string, at: number | null, act?: RegistryAct): Promise<boolean> {
    const sql = `UPDATE systems SET heldAt = ?1 WHERE appId = ?2 COLLATE BINARY AND deleteAfter IS NULL
      AND (heldAt IS NULL) <> (?1 IS NULL)`;
    return this.#file.transact(() => this.#noted(appId, act, this.#file.change(sql, at, appId)));
  }

  /** Renames the row that has an application id, to free the id. @returns whether there was one that may be exchanged */
  #putAside(appId: string, { deleteAfter, now, act }: Exchange): boolean {
    const aside = nameBeside(appId);
    this.#rename(appId, aside);
    const sql = `UPDATE systems SET appId = ?1, formerAppId = appId, place = coalesce(place, appId), deleteAfter = coalesce(deleteAfter, ?2)
      WHERE appId = ?3 COLLATE BINARY AND (deleteAfter IS NULL OR deleteAfter > ?4)`;
    if (this.#file.change(sql, aside, deleteAfter, appId, now)) return this.#noted(aside, act, true);
    this.#rename(aside, appId);
    return false;
  }

  /** Moves the keys of a row whose name changes in the same transaction. */
  #rename(appId: string, to: string): void {
    this.#file.change('PRAGMA defer_foreign_keys = ON');
    this.#file.change('UPDATE keys SET appId = ? WHERE appId = ?', to, appId);
  }

  async deleteSystem(appId: string, now: number, work: () => Promise<void>): Promise<boolean> {
    const lock = ProcessLock.tryTake(this.#deletionLock);
    if (!lock) return false;
    try {
      const begin = 'UPDATE systems SET deleteAfter = 0 WHERE appId = ? COLLATE BINARY AND deleteAfter <= ?';
      if (!(await this.#file.transact(() => this.#file.change(begin, appId, now)))) return false;
      await work();
      const end = 'DELETE FROM systems WHERE appId = ? COLLATE BINARY AND deleteAfter = 0';
      return await this.#file.transact(() => {
        this.#file.change('DELETE FROM undelivered_acts WHERE systemId IN (SELECT id FROM systems WHERE appId = ?)', appId);
        return this.#file.change(end, appId);
      });
    } finally {
      lock.release();
    }
  }

  forgetSystem(appId: string, act?: RegistryAct): Promise<boolean> {
    return this.#file.transact(() => {
      this.#note(appId, act);
      return this.#file.change('DELETE FROM systems WHERE appId = ? COLLATE BINARY', appId);
    });
  }

  /** Keeps the act of a change, within its transaction, if it changed anything. */
  #noted(appId: string, act: RegistryAct | undefined, changed: boolean): boolean {
    if (changed) this.#note(appId, act);
    return changed;
  }

  #note(appId: string, act: RegistryAct | undefined): void {
    const sql = 'INSERT INTO undelivered_acts (id, systemId, act) SELECT ?, id, ? FROM systems WHERE appId = ? COLLATE BINARY';
    if (act) this.#file.change(sql, act.id, act.text, appId);
  }

  async undeliveredActs(systemId: string): Promise<readonly RegistryAct[]> {
    return this.#file.all<RegistryAct>('SELECT id, act AS text FROM undelivered_acts WHERE systemId = ? ORDER BY id', systemId);
  }

  async actsDelivered(ids: readonly string[]): Promise<void> {
    this.#file.note((db) => {
      const remove = db.prepare('DELETE FROM undelivered_acts WHERE id = ?');
      for (const id of ids) remove.run(id);
    });
  }

  async storeOf(appId: string): Promise<KnownStore | null> {
    return this.#file.all<KnownStore>(`${readStores} WHERE appId = ? COLLATE BINARY`, appId)[0] ?? null;
  }

  async stores(): Promise<readonly KnownStore[]> {
    return this.#file.all<KnownStore>(`${readStores} ORDER BY createdAt, appId`);
  }

  async recordStore(systemId: string, { birth, generation, missingSince, noticedAt, damagedAt }: StoreNote): Promise<void> {
    const sql = `UPDATE systems SET birth = coalesce(?2, birth), generation = max(generation, coalesce(?3, 0)),
      noticedAt = coalesce(?5, noticedAt),
      missingSince = CASE WHEN ?4 < coalesce(missingSince, ?4 + 1) THEN ?4 ELSE missingSince END,
      damagedAt = CASE WHEN ?6 THEN ?7 ELSE damagedAt END WHERE id = ?1`;
    const setsDamaged = damagedAt === undefined ? 0 : 1;
    const values = [
      birth ?? null,
      generation ?? null,
      missingSince ?? null,
      noticedAt ?? null,
      setsDamaged,
      damagedAt ?? null,
    ] as const;
    this.#file.note((db) => db.prepare(sql).run(systemId, ...values));
  }

  addKey(key: KeyEntry, act?: RegistryAct): Promise<boolean> {
    return this.#file.transact(() => this.#noted(key.appId, act, this.#insertKey(key)));
  }

  removeKey(appId: string, name: string, act?: RegistryAct): Promise<boolean> {
    const sql = 'DELETE FROM keys WHERE appId = ? AND name = ?';
    return this.#file.transact(() => this.#noted(appId, act, this.#file.change(sql, appId, name)));
  }

  async recordKeyUses(uses: readonly KeyUse[]): Promise<void> {
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

  async backupTurn(): Promise<BackupTurn | null> {
    const [kept] = this.#file.all<{ turn: string }>('SELECT backupTurn AS turn FROM installation WHERE backupTurn IS NOT NULL');
    return kept ? JSON.parse(kept.turn) : null;
  }

  async takeBackupTurn(known: BackupTurn | null, turn: BackupTurn): Promise<boolean> {
    const last = await this.backupTurn();
    if (JSON.stringify(last) !== JSON.stringify(known)) return false;
    this.#file.note((db) => db.prepare('UPDATE installation SET backupTurn = ?').run(JSON.stringify(turn)));
    return true;
  }

  close(): Promise<void> {
    return this.#file.close();
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
