import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Addresses, type Config, type Settings } from './config/index.ts';
import { OperatorError } from './kernel/operator-error.ts';
import { isoText } from './kernel/time.ts';
import { Conditions, type Logger, Observations } from './observe/index.ts';
import type { Engine } from './storage/engine.ts';
import { lostText } from './storage/identity.ts';
import type { Registry } from './storage/registry.ts';
import {
  ProcessLock,
  pendingOfRegistry,
  SqliteEngine,
  SqliteRegistry,
  stateOfRegistry,
  storedFiles,
  whenIndexed,
} from './storage/sqlite/index.ts';
import { refuseMoved } from './transfer/index.ts';

/** Registry and storage engine of a service. Opened here only. */
export interface Stores {
  readonly registry: Registry;
  readonly engine: Engine;
  /** Addresses of files, which readers of the engine put into records. */
  readonly addresses: Addresses;
  close(): Promise<void>;
}

/** How stores are opened. */
interface OpeningOptions {
  /** Whether a registry may be created next to existing stores. */
  readonly mayCreate?: boolean | undefined;
  readonly conditions?: Conditions | undefined;
  readonly observations?: Observations | undefined;
}

/**
 * Opens PostgreSQL if DATABASE_URL is set, else the embedded store.
 * @throws OperatorError if it cannot be used, or its systems were moved to the other engine
 */
export async function openStores(
  config: Config,
  databaseUrl: string | undefined,
  log: Logger,
  options: OpeningOptions = {},
): Promise<Stores> {
  const stores = await openConfigured(config, databaseUrl, log, options);
  try {
    refuseMoved(stores.registry);
    return stores;
  } catch (error) {
    // Open connections would keep the process alive.
    await stores.close();
    throw error;
  }
}

/** The same, without refusing stores whose systems were moved. @throws OperatorError if it cannot be used */
export async function openConfigured(
  config: Config,
  databaseUrl: string | undefined,
  log: Logger,
  options: OpeningOptions = {},
): Promise<Stores> {
  if (databaseUrl === undefined) return openEmbedded(config, log, options);
  return openPostgres(config, databaseUrl, log, options);
}

/** Opens PostgreSQL. @param alone excludes other processes @throws OperatorError if it cannot be used */
export async function openPostgres(
  config: Config,
  url: string,
  log: Logger,
  {
    alone = false,
    mayCreate = false,
    conditions = new Conditions(log),
    observations = new Observations(),
  }: OpeningOptions & { readonly alone?: boolean } = {},
): Promise<Stores> {
  const addresses = new Addresses(config);
  // Imported on demand: the embedded store starts without it.
  const { PostgresEngine } = await import('./storage/postgres/index.ts');
  const engine = await PostgresEngine.connect(url, {
    timeLimit: config.queryTimeout,
    connections: config.databaseConnections,
    alone,
    mayCreateRegistry: mayCreate,
    conditions,
    observations,
    addressesOf: (appId) => addresses.filesOf(appId),
    report: reporter('PostgreSQL', conditions),
  });
  return { registry: engine.registry, engine, addresses, close: () => engine.close() };
}

/** Opens the store in DATA_DIR. @throws OperatorError if it cannot be used */
export async function openEmbedded(
  config: Config,
  log: Logger,
  { mayCreate = false, conditions = new Conditions(log), observations = new Observations() }: OpeningOptions = {},
): Promise<Stores> {
  const { dataDir, queryTimeout } = config;
  const addresses = new Addresses(config);
  await refuseLost(config, mayCreate);
  const registry = openRegistry(registryOf({ dataDir }), conditions, log);
  const engine = new SqliteEngine(systemsOf({ dataDir }), {
    timeLimit: queryTimeout,
    conditions,
    observations,
    addressesOf: (appId) => addresses.filesOf(appId),
    isServedElsewhere: () => ProcessLock.isHeldElsewhere(lockOf(config)),
    report: reporter('the embedded engine failed', conditions),
    onDamaged: (systemId, isDamaged) =>
      // For `system list`. If the write fails, it is repeated when the damage is met again.
      void registry.recordStore(systemId, { damagedAt: isDamaged ? Date.now() : null }).catch(() => {}),
  });
  return {
    registry,
    engine,
    addresses,
    async close() {
      await engine.close();
      await registry.close();
    },
  };
}

function openRegistry(path: string, conditions: Conditions, log: Logger): SqliteRegistry {
  const missing = (since: number) => {
    const from = isoText(since);
    log.error(
      { store: path, since: from },
      `the log of changes was cut or removed: what was changed since ${from} may be missing`,
    );
  };
  try {
    return new SqliteRegistry(path, conditions, missing);
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`DATA_DIR: ${path}: ${(error as Error).message}`, { cause: error });
  }
}

/**
 * Refuses to replace a lost registry by an empty one. Reference: faults.md#missing-and-foreign-stores.
 * @param mayCreate whether a registry may be created next to existing stores, which are then adopted one by one
 * @throws OperatorError if the registry is missing or empty and something indicates that it existed
 */
async function refuseLost(config: Config, mayCreate: boolean): Promise<void> {
  const path = registryOf(config);
  const state = await stateOf(config);
  if (state === 'there') return;
  if (state === 'damaged') throw new OperatorError(`DATA_DIR: ${path} is damaged: put back a copy of it`);
  const log = `${path}-wal`;
  if (statSync(log, { throwIfNoEntry: false })?.size)
    throw new OperatorError(`DATA_DIR: ${path} is ${state}, and ${log} has changes of it: put it back`);
  const places = mayCreate ? [] : await storedFiles(systemsOf(config));
  if (places.length > 0) throw new OperatorError(`DATA_DIR: ${lostText(`${path} is ${state}`, places)}`);
}

/** Returns whether DATA_DIR contains no registry. */
export const isLost = async (config: Config): Promise<boolean> => ['missing', 'empty'].includes(await stateOf(config));

async function stateOf(config: Config): Promise<ReturnType<typeof stateOfRegistry>> {
  const path = registryOf(config);
  await whenIndexed(path, () => ProcessLock.isHeldElsewhere(lockOf(config)));
  return stateOfRegistry(path);
}

/** Refuses a DATA_DIR without systems. @throws OperatorError */
export async function refuseEmpty(config: Config): Promise<void> {
  await refuseLost(config, false);
  if (!existsSync(registryOf(config)))
    throw new OperatorError(`DATA_DIR: ${config.dataDir} holds no systems; run this where the service runs, or set DATA_DIR`);
}

const systemsOf = ({ dataDir }: Pick<Config, 'dataDir'>) => join(dataDir, 'systems');
const registryOf = ({ dataDir }: Pick<Config, 'dataDir'>) => join(dataDir, 'registry.sqlite');

/**
 * Creates DATA_DIR if it does not exist. Files created by the process are accessible to its user only; an existing directory keeps its mode.
 * @throws OperatorError if it is not a directory
 */
export function makeDataDirectory({ dataDir }: Config): void {
  process.umask(0o077);
  // If the parent exists, a single directory is created: recursive mkdir never returns on file systems that refuse new directories.
  if (!existsSync(dataDir)) mkdirSync(dataDir, { recursive: !existsSync(dirname(dataDir)) });
  else if (!statSync(dataDir).isDirectory()) throw new OperatorError(`DATA_DIR: ${dataDir} is not a directory`);
}

/** Path of the lock held by the process that serves DATA_DIR. */
export const lockOf = ({ dataDir }: Config) => join(dataDir, 'service.lock');

/** Length of the part of a fault's text that identifies it. */
const MAX_FAULT_NAME_LENGTH = 200;

/** Returns a function that reports faults without a client as conditions, each once while it lasts. */
function reporter(what: string, conditions: Conditions): (fault: string) => void {
  return (fault) => {
    const [name = ''] = fault.split('\n', 1);
    conditions.met(what, { fault: name.slice(0, MAX_FAULT_NAME_LENGTH) }, Object.assign(new Error(name), { stack: fault }));
  };
}

/**
 * What is known of the stores before they are opened, which would make or migrate the registry. `ready`: they may be opened; `none`: there are none
 * yet; `pending`: the next start migrates the registry; `lost`: opening them tells what is wrong.
 */
interface StoresLook {
  readonly state: 'ready' | 'none' | 'pending' | 'lost';
  readonly detail: string;
  /** Whether the database lets the service work. */
  readonly isUsable: boolean;
}

/** Looks at the stores without opening or changing them. @throws OperatorError if the database cannot be used */
export async function lookAtStores({ config, secrets: { databaseUrl } }: Settings, timeLimit: number): Promise<StoresLook> {
  if (databaseUrl === undefined) return lookAtEmbedded(config);
  const { lookAtDatabase } = await import('./storage/postgres/index.ts');
  const { version, encoding, mayCreateSchemas, pending, hasSystems } = await lookAtDatabase(databaseUrl, timeLimit);
  const facts = `PostgreSQL ${version}, ${encoding}, ${mayCreateSchemas ? 'may' : 'the user may not'} create schemas`;
  if (pending === null && hasSystems) return { state: 'lost', detail: facts, isUsable: mayCreateSchemas };
  return { ...lookOf(pending, facts), isUsable: mayCreateSchemas };
}

function lookAtEmbedded(config: Config): StoresLook {
  const path = registryOf(config);
  const facts = `SQLite ${process.versions.sqlite}`;
  const isThere = existsSync(path);
  const isLost = isThere ? stateOfRegistry(path) !== 'there' : existsSync(systemsOf(config)) || existsSync(`${path}-wal`);
  if (isLost) return { state: 'lost', detail: facts, isUsable: true };
  return { ...lookOf(isThere ? pendingOfRegistry(path) : null, facts), isUsable: true };
}

/** @param pending number of migrations of the registry; null: there is none */
function lookOf(pending: number | null, facts: string): Pick<StoresLook, 'state' | 'detail'> {
  if (pending === null) return { state: 'none', detail: `${facts}, no systems yet` };
  if (pending === 0) return { state: 'ready', detail: facts };
  return { state: 'pending', detail: `${facts}, pending migrations of the registry: ${pending}` };
}
