import { master } from './access/index.ts';
import { operator } from './acts/index.ts';
import { adminObserver, adminWatch, timeline } from './audit/index.ts';
import { triggerNames, triggerRules } from './automation/definition/index.ts';
import { triggerObserver, type WriteListener, WriteRelay } from './automation/matching/trigger-observer.ts';
import type { Config, Secrets } from './config/index.ts';
import { reportNames } from './crm/reports/report-names.ts';
import { isUnavailable } from './errors/fail.ts';
import { type FileStore, type FileSystem, Files, fileKeeper, makeFilePlace, openFileStore } from './files/index.ts';
import { callableFunctions } from './functions/index.ts';
import { isoText } from './kernel/time.ts';
import { Conditions, createLog, type Logger, type Observations } from './observe/index.ts';
import { describeSystem } from './openapi/index.ts';
import type { FileKeeper, RecordContext, WriteHooks } from './records/index.ts';
import { StoreRefused } from './storage/identity.ts';
import type { Store } from './storage/port.ts';
import { ProcessLock } from './storage/sqlite/index.ts';
import { isLost, lockOf, makeDataDirectory, openStores, refuseEmpty, type Stores } from './stores.ts';
import { Administration, openStore } from './systems/index.ts';
import { Backups, Clones, type OtherProcesses } from './transfer/index.ts';
import { userTableRules } from './users/index.ts';

/**
 * Returns the hooks that apply to every write, whatever path it comes by.
 * @param listener receives the jobs that triggers queue
 */
export const hooksWith = (files: FileKeeper, listener: WriteListener, observations?: Observations): WriteHooks => ({
  observers: [timeline, triggerObserver(listener), adminObserver],
  watch: adminWatch,
  rules: new Map([...userTableRules, ['_Trigger', triggerRules]]),
  files,
  nameHolders: [triggerNames, reportNames],
  ...(observations && { observations }),
});

/** Returns a context with master rights for the records of a store. */
export type ContextOf = (store: Store, appId: string) => RecordContext;

export const masterContexts =
  (hooks: WriteHooks): ContextOf =>
  (store, appId) => ({ appId, store, principal: master, hooks, who: operator.who, referer: null });

/** Returns a function that logs that a system's change log was truncated or removed. */
export const missingLogger =
  (log: Logger) =>
  (app: string, since: number): void => {
    const from = isoText(since);
    log.error({ app, since: from }, `the log of changes was cut or removed: writes since ${from} may be missing`);
  };

/** What a command may create in DATA_DIR: nothing (`used`), not even itself (`checked`); everything (`first`); a registry next to existing stores (`adopting`). */
export type Use = 'used' | 'checked' | 'first' | 'adopting';

/** The stores of the service, opened for a command. Other processes may serve them at the same time. */
export interface CommandContext {
  readonly administration: Administration;
  /** Returns a context with master rights for the records of a store. */
  readonly contextOf: ContextOf;
  /** Opens a system's records with master rights for the duration of the work. @throws OperatorError if the system does not exist */
  withRecords<T>(appId: string, work: (context: RecordContext) => Promise<T>): Promise<T>;
  /**
   * Opens the files of one system, or of all systems in turn, for the duration of the work.
   * @param appId all systems if absent
   * @returns systems that were skipped because their store is refused or unavailable, with the errors; only if all systems were requested
   * @throws OperatorError if the system does not exist, or the files cannot be reached
   */
  withFiles(
    appId: string | undefined,
    work: (files: Files, system: FileSystem, isOnly: boolean) => Promise<void>,
  ): Promise<ReadonlyMap<string, unknown>>;
  /** Returns the OpenAPI description of a system as JSON text. @throws OperatorError if the system does not exist; classMissing (103) */
  describe(appId: string, tables: readonly string[]): Promise<string>;
  readonly backups: Backups;
  readonly clones: Clones;
  /** Opens the files of all systems. @throws OperatorError if they cannot be reached */
  files(): Promise<Files>;
  /** Returns which other processes work on the same store now. */
  otherProcesses(): OtherProcesses;
  close(): Promise<void>;
}

/**
 * Opens the stores for a command.
 * @param use what the command may create
 * @throws OperatorError if DATA_DIR is unexpectedly empty, or PostgreSQL cannot be used; errors of the operating system if DATA_DIR cannot be used
 */
export async function openCommandContext(
  config: Config,
  { databaseUrl, functionEnv }: Pick<Secrets, 'databaseUrl' | 'functionEnv'>,
  use: Use,
): Promise<CommandContext> {
  if (databaseUrl === undefined && (use === 'used' || use === 'checked')) await refuseEmpty(config);
  if (use !== 'checked') makeDataDirectory(config);
  const log = createLog(config.logLevel);
  // A running service may continue without the file of its registry; no second registry may be created next to it.
  const lock =
    databaseUrl === undefined && use === 'adopting' && (await isLost(config)) ? ProcessLock.take(lockOf(config)) : null;
  const stores = await openStores(config, databaseUrl, log, { mayCreate: use === 'adopting' });
  const { registry, engine } = stores;
  // Opened on demand: most commands need no files, and must not fail if these are unreachable.
  let opened: Promise<Files> | undefined;
  const files = () => (opened ??= openFiles(config, stores, { log, conditions: new Conditions(log) }));
  const hooks = hooksWith(
    fileKeeper(async (system, file) => (await files()).complete(system, file)),
    // Commands queue triggers; a service executes them.
    new WriteRelay(),
  );
  const contextOf = masterContexts(hooks);
  const appIds = () => registry.read().systems.map(({ appId }) => appId);
  const administration = new Administration(registry, engine, () => openBytes(config, log));
  let bytes: Promise<FileStore> | undefined;
  const parts = {
    administration,
    registry,
    engine,
    files: () => (bytes ??= openBytes(config, log)),
    makeFilePlace: (place: string) => makeFilePlace(config, place),
    storeDirectory: databaseUrl === undefined ? config.dataDir : null,
  };
  const engineName = databaseUrl === undefined ? 'sqlite' : 'postgres';
  const backups = new Backups({ ...parts, engineName, spoolDirectory: config.dataDir });
  const withStore = async <T>(appId: string, work: (store: Store) => Promise<T>): Promise<T> => {
    administration.checkSystem(appId);
    const store = await openStore(engine, registry, appId, 'work', (since) => missingLogger(log)(appId, since));
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  };
  return {
    administration,
    backups,
    clones: new Clones(parts),
    contextOf,
    withRecords: (appId, work) => withStore(appId, (store) => work(contextOf(store, appId))),
    async withFiles(appId, work) {
      const all = appId === undefined ? appIds() : [appId];
      const refused = new Map<string, unknown>();
      for (const each of all) {
        // The system may have been removed meanwhile.
        if (appId === undefined && !appIds().includes(each)) continue;
        try {
          await withStore(each, async (store) => {
            const mayLackRowsUntil = (await registry.storeOf(each))?.noticedAt ?? null;
            await work(await files(), { appId: each, store, mayLackRowsUntil }, all.length === 1);
          });
        } catch (error) {
          if (appId !== undefined || !(error instanceof StoreRefused || isUnavailable(error))) throw error;
          refused.set(each, error);
        }
      }
      return refused;
    },
    describe: (appId, tables) =>
      withStore(appId, async (store) => {
        const { functionsDir: directory, functionTimeout: timeLimit, functionMemoryMb: memoryMb } = config;
        const functions = await callableFunctions({ directory, timeLimit, memoryMb, env: functionEnv }, appId);
        const parts = { base: config.baseUrl ?? defaultBase(config), functions };
        return describeSystem(contextOf(store, appId), tables, parts);
      }),
    files,
    otherProcesses() {
      if (databaseUrl !== undefined) return 'working';
      return ProcessLock.isHeld(lockOf(config)) ? 'waiting' : 'none';
    },
    async close() {
      await (await opened)?.close();
      await (await bytes)?.close();
      await stores.close();
      lock?.release();
    },
  };
}

/** Returns the address of a service with these settings, which a command does not see listening. */
const defaultBase = ({ host, port }: Config): string => `http://${host.includes(':') ? `[${host}]` : host}:${port}`;

/** Opens the files of all systems. @throws OperatorError if they cannot be reached */
export async function openFiles(
  config: Config,
  { registry, addresses }: Stores,
  { log, conditions }: { readonly log: Logger; readonly conditions: Conditions },
): Promise<Files> {
  return new Files({ bytes: await openBytes(config, log), addresses, secret: registry.salt, conditions });
}

/** Opens the store of file contents. @throws OperatorError if it cannot be reached */
export function openBytes(config: Config, log: Logger): Promise<FileStore> {
  return openFileStore(config, (fault) => log.error({ fault }, 'FILES_URL'));
}
