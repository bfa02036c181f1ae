import { randomBytes } from 'node:crypto';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { KnownStore, StoreNote } from '../identity.ts';
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
import type { Statement } from '../sql/sql-writer.ts';
import { type InvalidationBus, registryInvalidation } from './cluster/invalidation.ts';
import { StalenessCheck } from './cluster/staleness-check.ts';
import type { Database, Result, Session } from './connection/database.ts';
import { migrateRegistry } from './schema/migrations.ts';
import {
  backupTurnFrom,
  contentFrom,
  deleteActs,
  dropActs,
  inheritActs,
  insertAct,
  insertKey,
  insertSystem,
  installation,
  keys,
  knownStore,
  putAside,
  readActs,
  readBackupTurn,
  readKeys,
  readStores,
  readSystems,
  recordBackupTurn,
  recordNote,
  restoreRow,
  systems,
  wasExchanged,
} from './schema/registry-rows.ts';
import { arrayLiteral } from './sql/arrays.ts';
import { registrySchema } from './sql/names.ts';

/**
 * The registry in PostgreSQL: a small schema, the only data outside the systems' schemas. Each process caches its content and learns of changes by
 * notifications.
 */
export class PostgresRegistry implements Registry {
  #salt: string;
  readonly #database: Database;
  readonly #staleness: StalenessCheck;
  #content: RegistryContent = { systems: [], removed: [], keys: [] };
  #moved: MovedMark | null = null;
  #version = 0;

  private constructor(database: Database, invalidations: InvalidationBus, salt: string) {
    this.#database = database;
    this.#salt = salt;
    this.#staleness = new StalenessCheck(
      () => invalidations.isReliable(),
      () => this.#load(),
    );
    invalidations.onRegistry(() => this.#staleness.markStale());
  }

  /** Opens the registry, or creates it if it is missing. @throws OperatorError for one of a later version of the service */
  static async open(database: Database, invalidations: InvalidationBus): Promise<PostgresRegistry> {
    await migrateRegistry(database);
    const salt = randomBytes(24).toString('base64url');
    const [, found] = await database.atomically([
      // Not if there are systems: without the original salt the hashes of their keys are useless.
      {
        text: `INSERT INTO ${installation} (one, salt) SELECT 1, $1 WHERE NOT EXISTS (SELECT 1 FROM ${systems}) ON CONFLICT DO NOTHING`,
        params: [salt],
      },
      { text: `SELECT salt, "movedTo", "movedAt" FROM ${installation}`, params: [] },
    ]);
    const [kept, to, at] = found?.rows[0] ?? [];
    if (typeof kept !== 'string') throw new OperatorError(`the schema ${registrySchema} is damaged: it has lost its salt`);
    const registry = new PostgresRegistry(database, invalidations, kept);
    if (to) registry.#moved = { to, at } as MovedMark;
    await registry.#load();
    return registry;
  }

  get salt(): string {
    return this.#salt;
  }

  async takeSalt(salt: string): Promise<boolean> {
    const text = `UPDATE ${installation} SET salt = $1 WHERE NOT EXISTS (SELECT 1 FROM ${systems})`;
    const taken = await this.#changeOne({ text, params: [salt] });
    if (taken) this.#salt = salt;
    return taken;
  }

  moved(): MovedMark | null {
    return this.#moved;
  }

  async markMoved(mark: MovedMark | null): Promise<void> {
    const text = `UPDATE ${installation} SET "movedTo" = $1, "movedAt" = $2::bigint`;
    await this.#changeOne({ text, params: [mark?.to ?? null, mark?.at ?? null] });
    this.#moved = mark;
  }

  whenCurrent(): Promise<void> {
    return this.#staleness.whenCurrent();
  }

  isCurrent(): boolean {
    return this.#staleness.isCurrent();
  }

  version(): number {
    return this.#version;
  }

  read(): RegistryContent {
    return this.#content;
  }

  addSystem(
    system: SystemEntry | RemovedSystem,
    withKeys: readonly KeyEntry[],
    prepare: () => Promise<PreparedStore | undefined>,
    { onlyFirst = false, replace, act, original }: Addition = {},
  ): Promise<boolean> {
    return this.#change(async (session) => {
      if (onlyFirst) {
        // Several processes may start at the same time: one adds the system, the others wait for its commit.
        await session.query({ text: `SELECT 1 FROM ${installation} FOR UPDATE`, params: [] });
        const { affected } = await session.query({ text: `SELECT 1 FROM ${systems} LIMIT 1`, params: [] });
        if (affected > 0) return false;
      }
      const { id, appId } = system;
      if (replace) await putAside(session, appId, replace);
      else if (!('deleteAfter' in system) && (await wasExchanged(session, appId))) return false;
      const { affected } = await session.query(insertSystem(system));
      if (affected === 0) return false;
      await Promise.all(withKeys.map((key) => session.query(insertKey(key))));
      if (act) await session.query(insertAct(appId, act));
      if (original) await session.query(insertAct(original.appId, original.act));
      const identity = await prepare();
      if (identity) {
        const { formerSystemId } = identity;
        if (formerSystemId !== undefined) await session.query(inheritActs(formerSystemId, id));
        const known = `UPDATE ${systems} SET birth = $2, generation = $3::bigint, "noticedAt" = $4::bigint WHERE id = $1`;
        await session.query({ text: known, params: [id, identity.birth, identity.generation, identity.noticedAt ?? null] });
      }
      return true;
    });
  }

  removeSystem(appId: string, deleteAfter: number, act?: RegistryAct): Promise<boolean> {
    const text = `UPDATE ${systems} SET "deleteAfter" = $2::bigint
      WHERE "appId" = $1 AND ("deleteAfter" IS NULL OR "deleteAfter" > $2::bigint)`;
    return this.#changeOne({ text, params: [appId, deleteAfter] }, appId, act);
  }

  restoreSystem(appId: string, now: number, replace?: Exchange, act?: RegistryAct): Promise<boolean> {
    return this.#change((session) => restoreRow(session, appId, now, { replace, act }));
  }

  holdSystem(appId: string, at: number | null, act?: RegistryAct): Promise<boolean> {
    const text = `UPDATE ${systems} SET "heldAt" = $1::bigint WHERE "appId" = $2 AND "deleteAfter" IS NULL
      AND ("heldAt" IS NULL) <> ($1::bigint IS NULL)`;
    return this.#changeOne({ text, params: [at, appId] }, appId, act);
  }

  async deleteSystem(appId: string, now: number, work: () => Promise<void>): Promise<boolean> {
    const begin = `UPDATE ${systems} SET "deleteAfter" = 0 WHERE "appId" = $1 AND "deleteAfter" <= $2::bigint`;
    if (!(await this.#changeOne({ text: begin, params: [appId, now] }))) return false;
    return this.#change(async (session) => {
      if (!(await this.#lockDeletion(session, appId))) return false;
      await work();
      await session.query(dropActs(appId));
      await session.query({ text: `DELETE FROM ${systems} WHERE "appId" = $1`, params: [appId] });
      return true;
    });
  }

  /**
   * Locks the deletion of a system for this transaction, so that no other process deletes or forgets it. Processes that close its store meanwhile
   * record their last generation, and the deletion may wait for them; so the row itself must remain updatable.
   */
  async #lockDeletion(session: Session, appId: string): Promise<boolean> {
    const text = `SELECT pg_try_advisory_xact_lock(hashtextextended($2, 0)) FROM ${systems}
      WHERE "appId" = $1 AND "deleteAfter" = 0 FOR KEY SHARE SKIP LOCKED`;
    const { rows } = await session.query({ text, params: [appId, `record-service deletion ${appId}`] });
    return rows[0]?.[0] === 1;
  }

  forgetSystem(appId: string, act?: RegistryAct): Promise<boolean> {
    return this.#change(async (session) => {
      if (act) await session.query(insertAct(appId, act));
      return (await session.query({ text: `DELETE FROM ${systems} WHERE "appId" = $1`, params: [appId] })).affected > 0;
    });
  }

  async undeliveredActs(systemId: string): Promise<readonly RegistryAct[]> {
    const rows = await this.#database.short(readActs(systemId));
    return rows.map(([id, act]) => ({ id, text: act }) as RegistryAct);
  }

  async actsDelivered(ids: readonly string[]): Promise<void> {
    await this.#database.atomically([deleteActs(ids)]);
  }

  async storeOf(appId: string): Promise<KnownStore | null> {
    const rows = await this.#database.short({ text: `${readStores} WHERE "appId" = $1`, params: [appId] });
    return rows.map(knownStore)[0] ?? null;
  }

  async stores(): Promise<readonly KnownStore[]> {
    const rows = await this.#database.short({ text: `${readStores} ORDER BY "createdAt", "appId"`, params: [] });
    return rows.map(knownStore);
  }

  async recordStore(systemId: string, note: StoreNote): Promise<void> {
    await this.#database.atomically([recordNote(systemId, note)]);
  }

  addKey(key: KeyEntry, act?: RegistryAct): Promise<boolean> {
    return this.#changeOne(insertKey(key), key.appId, act);
  }

  removeKey(appId: string, name: string, act?: RegistryAct): Promise<boolean> {
    return this.#changeOne({ text: `DELETE FROM ${keys} WHERE "appId" = $1 AND name = $2`, params: [appId, name] }, appId, act);
  }

  async recordKeyUses(uses: readonly KeyUse[]): Promise<void> {
    const text = `UPDATE ${keys} AS k SET "lastUsedAt" = u.at FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u ("appId", name, at)
      WHERE k."appId" = u."appId" AND k.name = u.name AND (k."lastUsedAt" IS NULL OR k."lastUsedAt" < u.at)`;
    const columns = [uses.map(({ appId }) => appId), uses.map(({ name }) => name), uses.map(({ at }) => at)];
    await this.#database.atomically([{ text, params: columns.map((values) => arrayLiteral(values)) }]);
  }

  async lastUses(appId: string): Promise<readonly KeyUse[]> {
    const text = `SELECT name, "lastUsedAt" FROM ${keys} WHERE "appId" = $1 AND "lastUsedAt" IS NOT NULL`;
    const rows = await this.#database.short({ text, params: [appId] });
    return rows.map(([name, at]) => ({ appId, name, at }) as KeyUse);
  }

  async backupTurn(): Promise<BackupTurn | null> {
    return backupTurnFrom((await this.#database.short(readBackupTurn))[0]);
  }

  async takeBackupTurn(known: BackupTurn | null, turn: BackupTurn): Promise<boolean> {
    const [result] = await this.#database.atomically([recordBackupTurn(known, turn)]);
    return (result?.affected ?? 0) > 0;
  }

  async close(): Promise<void> {}

  /** @param appId of the act */
  #changeOne(statement: Statement, appId = '', act?: RegistryAct): Promise<boolean> {
    return this.#change(async (session) => {
      if ((await session.query(statement)).affected === 0) return false;
      if (act) await session.query(insertAct(appId, act));
      return true;
    });
  }

  /** Makes a change and notifies the other processes with the commit. No time limit, because creating a system's store is part of the transaction. */
  async #change(work: (session: Session) => Promise<boolean>): Promise<boolean> {
    const changed = await this.#database.transact(
      async (session) => {
        const done = await work(session);
        if (done) await session.query(registryInvalidation());
        return done;
      },
      { timeLimit: 0, idleLimit: 0 },
    );
    // The change is committed even if this read fails; the next request then reads again.
    await this.#load().catch(() => this.#staleness.markStale());
    return changed;
  }

  async #load(): Promise<void> {
    const [ofSystems, ofKeys] = (await this.#database.atomically([readSystems, readKeys])) as [Result, Result];
    const content = contentFrom(ofSystems, ofKeys);
    if (JSON.stringify(content) === JSON.stringify(this.#content)) return;
    this.#content = content;
    this.#version++;
  }
}
