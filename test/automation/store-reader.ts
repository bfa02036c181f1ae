/**
 * Reads the store of a service beside it. The table of the queue is hidden from all clients (docs/adr/0012); and one statement counts what would take
 * dozens of requests.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { type Json, path } from '../support/records.ts';
import type { Service } from '../support/service.ts';
import type { Counts } from './effects.ts';

export interface StoreReader {
  /** All rows of the queue. */
  queued(): Promise<Json[]>;
  /** Whether the queue has no row. */
  isIdle(): Promise<boolean>;
  /**
   * Counts, as of one moment: the records of the tables that exist among these, the rows of `_Timeline` by event and table, and those of
   * `_syslogTriggers` by whether they say that a trigger fired, that an action ran, or an error. What is absent is zero.
   */
  counts(tables: readonly string[]): Promise<Counts>;
  /** The row of a record of a table that exists, as the database has it; undefined if there is none. */
  record(table: string, objectId: string): Promise<Json>;
  close(): Promise<void>;
}

/** How a system's tables are named in SQL. */
type Naming = (sqlName: string) => string;

const queue = '_TriggerQueue';
const log = '_syslogTriggers';
const timeline = '_Timeline';
/** Every system has them from its first start. They keep this name as long as no table differs from them by upper and lower case alone. */
const own = (className: string) => `t_${className}`;

/** The catalogue of the tables: `className`, and `sqlName`. */
const catalogue = 'rds_tables';

/** Opens the store of the service's first system. */
export async function openStore({ database, dataDir, appId, call }: Service): Promise<StoreReader> {
  if (database) return inPostgres(database.url);
  // Other connections to a file see a commit before it is durable, clients after that. A read on a thread of the service waits for it.
  const query = { where: { name: { $regex: '^$' } }, limit: 1 };
  const durable = async () => assert.equal((await call('GET', path('_Role'), { query })).status, 200);
  return inFile(join(dataDir, 'systems', appId, 'records.sqlite'), durable);
}

/** @param tables what each record table is called in SQL, by its class */
function countsSql(tables: ReadonlyMap<string, string>, naming: Naming): string {
  const parts = [
    `SELECT CASE WHEN "error" IS NOT NULL THEN 'failed' WHEN "actionId" IS NULL THEN 'fired' ELSE 'ran' END AS name, count(*) AS n
       FROM ${naming(own(log))} GROUP BY 1`,
    `SELECT "event" || ' ' || "objectClass" AS name, count(*) AS n FROM ${naming(own(timeline))} GROUP BY 1`,
    ...Array.from(tables, ([className, sqlName]) => `SELECT 'records ${className}', count(*) FROM ${naming(sqlName)}`),
  ];
  return parts.join(' UNION ALL ');
}

const countsFrom = (rows: readonly Json[]): Counts => Object.fromEntries(rows.map(({ name, n }) => [name, Number(n)]));

const namesFrom = (rows: readonly Json[]): ReadonlyMap<string, string> =>
  new Map(rows.map(({ className, sqlName }) => [className, sqlName]));

/** @param durable waits until what was committed is durable */
function inFile(file: string, durable: () => Promise<void>): StoreReader {
  const db = new DatabaseSync(file, { readOnly: true });
  db.exec('PRAGMA busy_timeout = 5000');
  const naming: Naming = (sqlName) => `"${sqlName}"`;
  const queued = db.prepare(`SELECT * FROM ${naming(own(queue))}`);
  const first = db.prepare(`SELECT 1 FROM ${naming(own(queue))} LIMIT 1`);
  const named = db.prepare(`SELECT className, sqlName FROM ${catalogue} WHERE className IN (SELECT value FROM json_each(?))`);
  const dataVersion = db.prepare('PRAGMA data_version');
  let known: { asked: string; version: unknown; counts: Counts } | undefined;
  return {
    queued: async () => queued.all(),
    async isIdle() {
      if (first.get() !== undefined) return false;
      await durable();
      return true;
    },
    // A table that is made or dropped between the two statements is none of those that a test counts.
    counts: async (tables) => {
      const asked = JSON.stringify(tables);
      // Changes with each commit of the service.
      const version = dataVersion.get()?.data_version;
      if (known?.asked === asked && known.version === version) return known.counts;
      known = { asked, version, counts: countsFrom(db.prepare(countsSql(namesFrom(named.all(asked)), naming)).all()) };
      const { counts } = known;
      await durable();
      return counts;
    },
    async record(table, objectId) {
      const sqlName = namesFrom(named.all(JSON.stringify([table]))).get(table) ?? '';
      return db.prepare(`SELECT * FROM ${naming(sqlName)} WHERE "objectId" = ?`).get(objectId);
    },
    close: async () => db.close(),
  };
}

async function inPostgres(connectionString: string): Promise<StoreReader> {
  const client = new pg.Client({ connectionString });
  // The database may go first.
  client.on('error', () => {});
  await client.connect();
  const rowsOf = async (text: string, values: unknown[] = []): Promise<Json[]> => (await client.query(text, values)).rows;
  const [found] = await rowsOf(
    `SELECT quote_ident(nspname) AS schema FROM pg_class JOIN pg_namespace AS n ON n.oid = relnamespace WHERE relname = $1`,
    [catalogue],
  );
  const naming: Naming = (sqlName) => `${found?.schema}."${sqlName}"`;
  const named = `SELECT "className", "sqlName" FROM ${found?.schema}.${catalogue} WHERE "className" = ANY ($1)`;
  return {
    queued: () => rowsOf(`SELECT * FROM ${naming(own(queue))}`),
    isIdle: async () => (await rowsOf(`SELECT 1 FROM ${naming(own(queue))} LIMIT 1`)).length === 0,
    counts: async (tables) => countsFrom(await rowsOf(countsSql(namesFrom(await rowsOf(named, [tables])), naming))),
    async record(table, objectId) {
      const sqlName = namesFrom(await rowsOf(named, [[table]])).get(table) ?? '';
      return (await rowsOf(`SELECT * FROM ${naming(sqlName)} WHERE "objectId" = $1`, [objectId]))[0];
    },
    close: () => client.end(),
  };
}
