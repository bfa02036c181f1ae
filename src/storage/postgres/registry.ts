import { randomBytes } from 'node:crypto';
import type { KeyEntry, Registry, RegistryContent, SystemEntry } from '../registry.ts';
import type { Statement } from '../sql/writer.ts';
import type { Database, Result, Session } from './connection/database.ts';
import { Freshness } from './freshness.ts';
import { registrySchema } from './names.ts';
import { type Notices, registryNotice } from './notices.ts';
import { migrateRegistry } from './schema/migrations.ts';

const systems = `${registrySchema}.systems`;
const keys = `${registrySchema}.keys`;
const installation = `${registrySchema}.installation`;

const readSystems: Statement = {
  text: `SELECT id, "appId", name, "createdAt", "masterKeyHash" FROM ${systems} ORDER BY "createdAt", "appId"`,
  params: [],
};
const readKeys: Statement = {
  text: `SELECT "appId", name, hash, "createdAt" FROM ${keys} ORDER BY "createdAt", name`,
  params: [],
};

/**
 * The registry in PostgreSQL: one small schema, all that there is outside the systems' own. Each process keeps what it holds in memory and
 * hears of changes by notices.
 */
export class PostgresRegistry implements Registry {
  #salt: string;
  readonly #database: Database;
  readonly #freshness: Freshness;
  #content: RegistryContent = { systems: [], keys: [] };
  #version = 0;

  private constructor(database: Database, notices: Notices, salt: string) {
    this.#database = database;
    this.#salt = salt;
    this.#freshness = new Freshness(
      () => notices.isSound(),
      () => this.#load(),
    );
    notices.onRegistry(() => this.#freshness.distrust());
  }

  /** Opens the registry, making it where there is none. @throws OperatorError for one of a later version of the service */
  static async open(database: Database, notices: Notices): Promise<PostgresRegistry> {
    await migrateRegistry(database);
    const salt = randomBytes(24).toString('base64url');
    const [, found] = await database.atomically([
      { text: `INSERT INTO ${installation} (one, salt) VALUES (1, $1) ON CONFLICT DO NOTHING`, params: [salt] },
      { text: `SELECT salt FROM ${installation}`, params: [] },
    ]);
    const registry = new PostgresRegistry(database, notices, String(found?.rows[0]?.[0]));
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

  whenCurrent(): undefined | Promise<void> {
    return this.#freshness.whenCurrent();
  }

  version(): number {
    return this.#version;
  }

  read(): RegistryContent {
    return this.#content;
  }

  addSystem(
    system: SystemEntry,
    withKeys: readonly KeyEntry[],
    prepare: () => Promise<void>,
    onlyFirst = false,
  ): Promise<boolean> {
    return this.#change(async (session) => {
      if (onlyFirst) {
        // Of processes that start at the same time one makes it; the others wait for that.
        await session.query({ text: `SELECT 1 FROM ${installation} FOR UPDATE`, params: [] });
        const { affected } = await session.query({ text: `SELECT 1 FROM ${systems} LIMIT 1`, params: [] });
        if (affected > 0) return false;
      }
      const { id, appId, name, createdAt, masterKeyHash } = system;
      const { affected } = await session.query({
        text: `INSERT INTO ${systems} (id, "appId", name, "createdAt", "masterKeyHash") VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`,
        params: [id, appId, name, createdAt, masterKeyHash],
      });
      if (affected === 0) return false;
      await Promise.all(withKeys.map((key) => session.query(insertKey(key))));
      await prepare();
      return true;
    });
  }

  removeSystem(appId: string): Promise<boolean> {
    return this.#changeOne({ text: `DELETE FROM ${systems} WHERE "appId" = $1`, params: [appId] });
  }

  addKey(key: KeyEntry): Promise<boolean> {
    return this.#changeOne(insertKey(key));
  }

  removeKey(appId: string, name: string): Promise<boolean> {
    return this.#changeOne({ text: `DELETE FROM ${keys} WHERE "appId" = $1 AND name = $2`, params: [appId, name] });
  }

  close(): void {}

  #changeOne(statement: Statement): Promise<boolean> {
    return this.#change(async (session) => (await session.query(statement)).affected > 0);
  }

  /** The other processes hear of it with the commit. Making a system takes its time, so nothing here has a limit. */
  async #change(work: (session: Session) => Promise<boolean>): Promise<boolean> {
    const changed = await this.#database.transact(
      async (session) => {
        const done = await work(session);
        if (done) await session.query(registryNotice());
        return done;
      },
      { timeLimit: 0, idleLimit: 0 },
    );
    await this.#load();
    return changed;
  }

  async #load(): Promise<void> {
    const [ofSystems, ofKeys] = (await this.#database.atomically([readSystems, readKeys])) as [Result, Result];
    const content = {
      systems: ofSystems.rows.map(
        ([id, appId, name, createdAt, masterKeyHash]) => ({ id, appId, name, createdAt, masterKeyHash }) as SystemEntry,
      ),
      keys: ofKeys.rows.map(([appId, name, hash, createdAt]) => ({ appId, name, hash, createdAt }) as KeyEntry),
    };
    if (JSON.stringify(content) === JSON.stringify(this.#content)) return;
    this.#content = content;
    this.#version++;
  }
}

function insertKey({ appId, name, hash, createdAt }: KeyEntry): Statement {
  const text = `INSERT INTO ${keys} ("appId", name, hash, "createdAt")
    SELECT s."appId", $2::text, $3::text, $4::bigint FROM ${systems} AS s WHERE s."appId" = $1 ON CONFLICT DO NOTHING`;
  return { text, params: [appId, name, hash, createdAt] };
}
