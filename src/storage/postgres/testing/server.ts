/** PostgreSQL for tests: databases of their own on a server that the whole run shares, and servers that a suite may stop. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { ServerProcess, type ServerSettings } from './process.ts';

/** Names the server that a run shares; `npm test` starts one. Where it is missing, each test file starts its own. */
export const SERVER_VARIABLE = 'TEST_POSTGRES_URL';

/** A database of a test's own. */
export interface TestDatabase {
  readonly url: string;
  /** Cuts what is still connected. */
  drop(): Promise<void>;
}

/** A server of a suite's own. */
export interface TestServer {
  /** Makes an empty database. */
  database(): Promise<TestDatabase>;
  /** Runs SQL in a database of the server, as its administrator. */
  query(sql: string, database?: TestDatabase): Promise<unknown[]>;
  /** Starts it again where it was, after `stop` or `kill`. */
  start(): Promise<void>;
  /** The orderly end: sessions are cut. */
  stop(): Promise<void>;
  /** The immediate end (`pg_ctl stop -m immediate`). */
  quit(): Promise<void>;
  /** SIGKILL of its main process. */
  kill(): Promise<void>;
  /** Waits until it has ended by itself. */
  ended(): Promise<void>;
  /** What it wrote. */
  log(): Promise<string>;
  /** Ends it and removes its data. */
  close(): Promise<void>;
}

let own: Promise<ServerProcess> | undefined;

/** The server that the run shares; one is started where the run has none. `close` ends it only then. */
export async function sharedServer(): Promise<{ url: string; close(): Promise<void> }> {
  // biome-ignore lint/style/noProcessEnv: this is how the runner tells its test files where the server is
  const given = process.env[SERVER_VARIABLE];
  if (given) return { url: given, close: async () => {} };
  own ??= ServerProcess.create();
  const server = await own;
  return { url: server.url(), close: () => server.close() };
}

/**
 * A fresh, empty UTF8 database on the shared server.
 * @param template a database of the server that it is a copy of
 */
export async function testDatabase(template = 'template0'): Promise<TestDatabase> {
  const { url } = await sharedServer();
  return makeDatabase(url, template);
}

/**
 * A server that a suite may stop, kill and start again. It ends with the process at the latest.
 * @param settings of its own
 * @param wal where its log of changes is to be; an empty directory of its user
 */
export async function testServer(settings: ServerSettings = {}, wal?: string): Promise<TestServer> {
  const server = await ServerProcess.create(settings, wal);
  return {
    database: () => makeDatabase(server.url(), 'template0'),
    query: (sql, database) => query(database?.url ?? server.url(), sql),
    start: () => server.start(),
    stop: () => server.stop(),
    quit: () => server.quit(),
    kill: () => server.kill(),
    ended: () => server.ended(),
    log: () => server.log(),
    close: () => server.close(),
  };
}

async function makeDatabase(server: string, template: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  // Files are copied in a third of the time that it takes to log their pages.
  const how = template === 'template0' ? "ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'" : 'STRATEGY file_copy';
  await query(server, `CREATE DATABASE "${name}" TEMPLATE "${template}" ${how}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    async drop() {
      await query(server, `DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`);
    },
  };
}

/** One statement on a connection of its own. @returns its rows, as objects */
export async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
