import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Addresses, type Config } from './config/index.ts';
import { OperatorError } from './kernel/operator-error.ts';
import { isoText } from './kernel/time.ts';
import { Conditions, type Logger } from './observe/index.ts';
import type { Engine } from './storage/engine.ts';
import { lostText } from './storage/identity.ts';
import type { Registry } from './storage/registry.ts';
import { ProcessLock, SqliteEngine, SqliteRegistry, stateOfRegistry, storedFiles, whenIndexed } from './storage/sqlite/index.ts';
import { refuseMoved } from './transfer/index.ts';

/** Where all that a service keeps of its systems is: opened here and nowhere else. */
export interface Stores {
  readonly registry: Registry;
  readonly engine: Engine;
  /** That the engine's readers write. */
  readonly addresses: Addresses;
  close(): Promise<void>;
}

/**
 * Opens PostgreSQL where DATABASE_URL says so, else the embedded store.
 * @param mayMake whether a registry may be made beside stores that are there
 * @throws OperatorError where it cannot be used, or its systems were moved to the other one
 */
export async function openStores(
  config: Config,
  databaseUrl: string | undefined,
  log: Logger,
  { mayMake, conditions }: { mayMake?: boolean; conditions?: Conditions } = {},
): Promise<Stores> {
  const stores = await openConfigured(config, databaseUrl, log, { mayMake, conditions });
  try {
    refuseMoved(stores.registry);
    return stores;
  } catch (error) {
    // Connections that are open would keep the process.
    await stores.close();
    throw error;
  }
}

/** The same, also where its systems were moved. @throws OperatorError where it cannot be used */
export async function openConfigured(
  config: Config,
  databaseUrl: string | undefined,
  log: Logger,
  {
    mayMake = false,
    conditions = new Conditions(log),
  }: { mayMake?: boolean | undefined; conditions?: Conditions | undefined } = {},
): Promise<Stores> {
  if (databaseUrl === undefined) return openEmbedded(config, log, { mayMake, conditions });
  return openPostgres(config, databaseUrl, log, { mayMake, conditions });
}

/** @param alone whether no other process may use it meanwhile @throws OperatorError where it cannot be used */
export async function openPostgres(
  config: Config,
  url: string,
  log: Logger,
  {
    alone = false,
    mayMake = false,
    conditions = new Conditions(log),
  }: { alone?: boolean; mayMake?: boolean; conditions?: Conditions } = {},
): Promise<Stores> {
  const addresses = new Addresses(config);
  // Loaded where it is used: the embedded store starts without it.
  const { PostgresEngine } = await import('./storage/postgres/index.ts');
  const engine = await PostgresEngine.connect(url, {
    timeLimit: config.queryTimeout,
    connections: config.databaseConnections,
    alone,
    mayMakeRegistry: mayMake,
    conditions,
    addressesOf: (appId) => addresses.filesOf(appId),
    report: reporter('PostgreSQL', conditions),
  });
  return { registry: engine.registry, engine, addresses, close: () => engine.close() };
}

/** The store in DATA_DIR. @throws OperatorError where it cannot be used */
export async function openEmbedded(
  config: Config,
  log: Logger,
  { mayMake = false, conditions = new Conditions(log) }: { mayMake?: boolean; conditions?: Conditions } = {},
): Promise<Stores> {
  const { dataDir, queryTimeout } = config;
  const addresses = new Addresses(config);
  await refuseLost(config, mayMake);
  const registry = openRegistry(registryOf({ dataDir }), conditions, log);
  const engine = new SqliteEngine(systemsOf({ dataDir }), {
    timeLimit: queryTimeout,
    conditions,
    addressesOf: (appId) => addresses.filesOf(appId),
    isServedElsewhere: () => ProcessLock.isHeldElsewhere(lockOf(config)),
    report: reporter('the embedded engine failed', conditions),
    onDamaged: (systemId, isDamaged) =>
      // For `system list`; a note that cannot be made is made when the damage is next met.
      void registry.noteStore(systemId, { damagedAt: isDamaged ? Date.now() : null }).catch(() => {}),
  });
  return {
    registry,
    engine,
    addresses,
    async close() {
      await engine.close();
      registry.close();
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
 * A registry that is gone is not made anew beside what it knew.
 * @param mayMake whether it may be made beside systems' stores, which are taken in one by one
 * @throws OperatorError where it is missing, or holds nothing, and something says that there was one
 */
async function refuseLost(config: Config, mayMake: boolean): Promise<void> {
  const path = registryOf(config);
  const state = await stateOf(config);
  if (state === 'there') return;
  if (state === 'damaged') throw new OperatorError(`DATA_DIR: ${path} is damaged: put back a copy of it`);
  const log = `${path}-wal`;
  if (statSync(log, { throwIfNoEntry: false })?.size)
    throw new OperatorError(`DATA_DIR: ${path} is ${state}, and ${log} has changes of it: put it back`);
  const places = mayMake ? [] : await storedFiles(systemsOf(config));
  if (places.length > 0) throw new OperatorError(`DATA_DIR: ${lostText(`${path} is ${state}`, places)}`);
}

/** Whether there is no registry in DATA_DIR. */
export const isLost = async (config: Config): Promise<boolean> => ['missing', 'empty'].includes(await stateOf(config));

async function stateOf(config: Config): Promise<ReturnType<typeof stateOfRegistry>> {
  const path = registryOf(config);
  await whenIndexed(path, () => ProcessLock.isHeldElsewhere(lockOf(config)));
  return stateOfRegistry(path);
}

/** @throws OperatorError where DATA_DIR holds nothing */
export async function refuseEmpty(config: Config): Promise<void> {
  await refuseLost(config, false);
  if (!existsSync(registryOf(config)))
    throw new OperatorError(`DATA_DIR: ${config.dataDir} holds no systems; run this where the service runs, or set DATA_DIR`);
}

const systemsOf = ({ dataDir }: Pick<Config, 'dataDir'>) => join(dataDir, 'systems');
const registryOf = ({ dataDir }: Pick<Config, 'dataDir'>) => join(dataDir, 'registry.sqlite');

/**
 * Makes DATA_DIR where there is none. Whatever the process writes is for its own user alone; a directory that is there keeps its mode.
 * @throws OperatorError where it is no directory
 */
export function makeDataDirectory({ dataDir }: Config): void {
  process.umask(0o077);
  // Where the parent is there, one directory is made: making several never returns on file systems that take none.
  if (!existsSync(dataDir)) mkdirSync(dataDir, { recursive: !existsSync(dirname(dataDir)) });
  else if (!statSync(dataDir).isDirectory()) throw new OperatorError(`DATA_DIR: ${dataDir} is not a directory`);
}

/** Who serves DATA_DIR holds this. */
export const lockOf = ({ dataDir }: Config) => join(dataDir, 'service.lock');

/** Characters that tell one fault of an engine from another. */
const MAX_FAULT_NAME_LENGTH = 200;

/** Tells the log of faults that no client sees: of each once while it lasts. */
function reporter(what: string, conditions: Conditions): (fault: string) => void {
  return (fault) => {
    const [name = ''] = fault.split('\n', 1);
    conditions.met(what, { fault: name.slice(0, MAX_FAULT_NAME_LENGTH) }, Object.assign(new Error(name), { stack: fault }));
  };
}
