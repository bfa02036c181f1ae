/**
 * Databases on a Citus cluster, for a run of the tests against one (test/README.md): each is a copy, on every node, of a database that was prepared
 * once, which copies the cluster's metadata as well.
 */
import pg from 'pg';

/** Set for a run against a cluster: the URLs of its nodes, the coordinator first, with a user who may create databases and terminate sessions. */
const CLUSTER_VARIABLE = 'TEST_CLUSTER_URLS';

/** Name of the empty database with the extension and the nodes. */
const BASE = 'test_cluster_base';

/** Returns the URLs of the nodes, the coordinator first; none if the run is not against a cluster. */
export function clusterUrls(): string[] {
  // biome-ignore lint/style/noProcessEnv: a setting of the tests
  return process.env[CLUSTER_VARIABLE]?.split(',') ?? [];
}

/** Prepares the database that the others are copies of. Call it once in a run. */
export async function prepareCluster(urls: readonly string[]): Promise<void> {
  const [coordinator = '', ...workers] = urls;
  await onAll(urls, [
    `DROP DATABASE IF EXISTS "${BASE}" WITH (FORCE)`,
    `CREATE DATABASE "${BASE}" TEMPLATE template0 ENCODING 'UTF8'`,
  ]);
  for (const url of urls) await run(databaseUrl(url, BASE), ['CREATE EXTENSION citus']);
  const address = (url: string) => {
    const { hostname, port } = new URL(url);
    return `'${hostname}', ${port}`;
  };
  const add = workers.map((url) => `SELECT citus_add_node(${address(url)})`);
  await run(databaseUrl(coordinator, BASE), [`SELECT citus_set_coordinator_host(${address(coordinator)})`, ...add]);
}

/** Creates a database on all nodes. @param template a database to copy; `template0`: an empty one */
export async function createClusterDatabase(urls: readonly string[], name: string, template: string): Promise<void> {
  const source = template === 'template0' ? BASE : template;
  await onAll(urls, [
    `ALTER DATABASE "${source}" ALLOW_CONNECTIONS false`,
    // Citus itself keeps a session in each database that was used.
    `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${source}'`,
    `CREATE DATABASE "${name}" TEMPLATE "${source}" STRATEGY file_copy`,
  ]);
}

/**
 * Drops a database on all nodes.
 * @throws Error if a worker has drawn the place of a record from its own range of a sequence, which breaks the order of creation
 */
export async function dropClusterDatabase(urls: readonly string[], name: string): Promise<void> {
  const drawn: unknown[] = [];
  await onAll(urls, [`ALTER DATABASE "${name}" ALLOW_CONNECTIONS true`]);
  for (const url of urls.slice(1)) drawn.push(...(await run(databaseUrl(url, name), [DRAWN])));
  if (drawn.length > 0) throw new Error(`workers have drawn numbers of sequences: ${JSON.stringify(drawn)}`);
  await onAll(urls, [`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`]);
}

const DRAWN = `SELECT schemaname, sequencename, last_value FROM pg_sequences WHERE starts_with(schemaname, 'rds') AND last_value IS NOT NULL`;

function databaseUrl(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

/** Runs statements on every node, each for that node alone. */
async function onAll(urls: readonly string[], statements: readonly string[]): Promise<void> {
  const local = ['SET citus.enable_create_database_propagation = off'];
  await Promise.all(urls.map((url) => run(url, [...local, ...statements])));
}

/** @returns the rows of the last statement */
async function run(url: string, statements: readonly string[]): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    let rows: unknown[] = [];
    for (const statement of statements) rows = (await client.query(statement)).rows;
    return rows;
  } finally {
    await client.end();
  }
}
