/** PostgreSQL for tests: separate databases on a server shared by the whole run, and servers that a suite may stop. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { clusterUrls, createClusterDatabase, dropClusterDatabase } from './cluster.ts';
import { clusterModeSql, databaseName, isEverywhere } from './coordinator/cluster-mode.ts';
import { ServerProcess, type ServerSettings } from './process.ts';
import { runResource } from './run-resources.ts';

/** A database for one test. */
export interface TestDatabase {
  readonly url: string;
  /** Terminates remaining connections and drops the database. */
  drop(): Promise<void>;
}

/** A server for one suite. */
export interface TestServer {
  /** Creates an empty database. */
  database(): Promise<TestDatabase>;
  /** Runs SQL in a database of the server, as superuser. */
  query(sql: string, database?: TestDatabase): Promise<unknown[]>;
  /** Starts it again on the same port, after `stop` or `kill`. */
  start(): Promise<void>;
  /** Fast shutdown: sessions are terminated. */
  stop(): Promise<void>;
  /** Immediate shutdown (`pg_ctl stop -m immediate`). */
  quit(): Promise<void>;
  /** Sends SIGKILL to its main process. */
  kill(): Promise<void>;
  /** Waits until it has ended by itself. */
  ended(): Promise<void>;
  /** Returns its log. */
  log(): Promise<string>;
  /** Stops it and removes its data. */
  close(): Promise<void>;
}

let own: Promise<ServerProcess> | undefined;

/** Returns the shared server of the run. If there is none, starts one, which only then `close` stops. */
export async function sharedServer(): Promise<{ url: string; close(): Promise<void> }> {
  const given = await runResource('postgres');
  if (given) return { url: given, close: async () => {} };
  own ??= ServerProcess.create();
  const server = await own;
  return { url: server.url(), close: () => server.close() };
}

/**
 * Creates a fresh, empty UTF8 database on the shared server.
 * @param template a database of the server to copy
 * @param isCluster whether the engine is to take it for a Citus cluster's (coordinator/cluster-mode.ts)
 */
export async function testDatabase(template = 'template0', isCluster = isEverywhere): Promise<TestDatabase> {
  const { url } = await sharedServer();
  if (isCluster) await import('./coordinator/recording.ts');
  return makeDatabase(url, template, isCluster, clusterUrls());
}

/**
 * Starts a server that a suite may stop, kill and start again. It ends with this process at the latest.
 * @param settings overriding the defaults
 * @param wal empty directory for its WAL, owned by its user
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

async function makeDatabase(
  server: string,
  template: string,
  isCluster = false,
  cluster: readonly string[] = [],
): Promise<TestDatabase> {
  const name = databaseName(randomBytes(8).toString('hex'), isCluster);
  // Copying files takes a third of the time of logging their pages.
  const how = template === 'template0' ? "ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'" : 'STRATEGY file_copy';
  if (cluster.length > 0) await createClusterDatabase(cluster, name, template);
  else await query(server, `CREATE DATABASE "${name}" TEMPLATE "${template}" ${how}`);
  if (isCluster) await query(server, clusterModeSql(name));
  const url = new URL(server);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    async drop() {
      if (cluster.length > 0) return dropClusterDatabase(cluster, name);
      await query(server, `DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`);
    },
  };
}

/** Runs one statement on a separate connection. @returns its rows, as objects */
export async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
