/** Where a service under test keeps its data: a directory, and on PostgreSQL a database beside it. Fresh, or a prepared copy. */
import { createHash } from 'node:crypto';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after } from 'node:test';
import { getCallSites } from 'node:util';
import { runResource } from '../../src/storage/postgres/testing/run-resources.ts';
import { type TestDatabase, testDatabase } from '../../src/storage/postgres/testing/server.ts';
import { isClusterSuite } from './cluster-suites.ts';

export type EngineName = 'sqlite' | 'postgres';

const NAMES: readonly EngineName[] = ['sqlite', 'postgres'];

/**
 * TEST_ENGINES: a shorter run on one engine, or with both a longer one, in which no suite is sampled. `cluster` is PostgreSQL with what a Citus
 * coordinator can plan (cluster-suites.ts).
 */
const named = process.env.TEST_ENGINES?.replace('cluster', 'postgres,cluster').split(',');

/** For suites of what differs between the engines: SQL, transactions, processes, faults. */
export const engines: readonly EngineName[] = NAMES.filter((engine) => named?.includes(engine) ?? true);

/** For suites that do not depend on the engine: the first of them. */
export const anyEngine: readonly EngineName[] = engines.slice(0, 1);

/**
 * For suites of layers that have no code of an engine's own: one engine, which follows from the name of the test file, so that half of the files of
 * a folder run on each. All that TEST_ENGINES names, if it is set.
 */
export function sampledEngines(): readonly EngineName[] {
  if (named) return engines;
  const file = getCallSites().find(({ scriptName }) => scriptName.endsWith('.test.ts'))?.scriptName;
  if (file === undefined) throw new Error('engines are sampled for a test file');
  const [digest = 0] = createHash('sha256').update(basename(file)).digest();
  return [NAMES[digest % NAMES.length] ?? 'sqlite'];
}

/** What outlives a service, so that another can be started on it, or beside it. */
export interface Data {
  dataDir: string;
  /** On PostgreSQL. */
  database?: Pick<TestDatabase, 'url'>;
}

export interface OwnData extends Data {
  /** What leads a process to it. */
  settings: Record<string, string>;
  remove(): Promise<void>;
}

/** The settings that lead a process to the data. */
export const settingsOf = ({ dataDir, database }: Data): Record<string, string> => ({
  DATA_DIR: dataDir,
  ...(database && { DATABASE_URL: database.url }),
});

/**
 * A place of a test's own. Where the run has prepared one, it is a copy of that: a service's first start has made its first system.
 * @param isPrepared false: an empty one
 */
export async function makeData(engine: EngineName, isPrepared = true, isCluster = isClusterSuite()): Promise<OwnData> {
  const dataDir = await makeDirectory(engine, isPrepared);
  const database = engine === 'postgres' ? await makeDatabase(isPrepared, isCluster) : undefined;
  const data: Data = { dataDir, ...(database && { database }) };
  return {
    ...data,
    settings: settingsOf(data),
    async remove() {
      await database?.drop();
      await removeDirectory(dataDir);
    },
  };
}

/** The same, removed after the tests around. */
export async function dataForTest(engine: EngineName, isPrepared = true): Promise<OwnData> {
  const data = await makeData(engine, isPrepared);
  after(() => data.remove());
  return data;
}

export async function makeDirectory(engine: EngineName, isPrepared: boolean): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'rds-test-'));
  const sqlite = engine === 'sqlite' && isPrepared ? await runResource('sqlite-data') : undefined;
  if (sqlite !== undefined) await cp(sqlite, made, { recursive: true });
  return made;
}

export const makeDatabase = async (isPrepared: boolean, isCluster = isClusterSuite()): Promise<TestDatabase> =>
  testDatabase(isPrepared ? await runResource('postgres-data') : undefined, isCluster);

export const removeDirectory = (dataDir: string): Promise<void> => rm(dataDir, { recursive: true, force: true });
