/**
 * Databases in which the engine sends only what a Citus coordinator can plan, although the server is plain PostgreSQL: the engine takes a database
 * for a cluster's if `citus.version` is set, and here it is a setting without a meaning.
 */

/** Prefix of such databases, by which the recorder finds their connections. */
const PREFIX = 'cluster_';

/** Returns the name of a test's database. */
export const databaseName = (id: string, isCluster: boolean): string => `${isCluster ? PREFIX : 'test_'}${id}`;

export const isClusterDatabase = (name: string): boolean => name.startsWith(PREFIX);

/** Returns the statement that puts a database into the mode, for sessions that begin later. */
export const clusterModeSql = (name: string): string => `ALTER DATABASE "${name}" SET citus.version = '13.2'`;

// biome-ignore lint/style/noProcessEnv: as in test/support/data.ts
const engines = process.env.TEST_ENGINES;

/** Whether TEST_ENGINES asks for the mode in all suites. */
export const isEverywhere = engines?.split(',').includes('cluster') ?? false;

/** Variable with the directory of recorded statements (recording.ts). Not set: the process runs without the runner. */
export const STATEMENTS_VARIABLE = 'TEST_STATEMENTS_DIR';
