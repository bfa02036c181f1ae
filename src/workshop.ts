import { master } from './access/index.ts';
import { timeline } from './audit/index.ts';
import { triggerRules } from './automation/definition/index.ts';
import { triggerObserver, type WriteListener, WriteRelay } from './automation/matching/trigger-observer.ts';
import type { Config } from './config/index.ts';
import { isUnavailable } from './errors/fail.ts';
import { type FileStore, type FileSystem, Files, fileKeeper, makeFilePlace, openFileStore } from './files/index.ts';
import { isoText } from './kernel/time.ts';
import { Conditions, createLog, type Logger } from './observe/index.ts';
import type { FileKeeper, RecordContext, WriteHooks } from './records/index.ts';
import { StoreRefused } from './storage/identity.ts';
import type { Store } from './storage/port.ts';
import { ProcessLock } from './storage/sqlite/index.ts';
import { isLost, lockOf, makeDataDirectory, openStores, refuseEmpty, type Stores } from './stores.ts';
import { Administration, openStore } from './systems/index.ts';
import { Backups, type Company } from './transfer/index.ts';
import { userTableRules } from './users/index.ts';

/**
 * Who has a say in every write, whatever path it comes by.
 * @param listener hears of what triggers are to do
 */
export const hooksWith = (files: FileKeeper, listener: WriteListener): WriteHooks => ({
  observers: [timeline, triggerObserver(listener)],
  rules: new Map([...userTableRules, ['_Trigger', triggerRules]]),
  files,
});

/** Makes contexts for the records of a store as its master writes them. */
export type ContextOf = (store: Store, appId: string) => RecordContext;

export const masterOf =
  (hooks: WriteHooks): ContextOf =>
  (store, appId) => ({ appId, store, principal: master, hooks, referer: null });

/** Tells the log of a system whose log of changes was cut or removed. */
export const tellMissing =
  (log: Logger) =>
  (app: string, since: number): void => {
    const from = isoText(since);
    log.error({ app, since: from }, `the log of changes was cut or removed: writes since ${from} may be missing`);
  };

/** What a command may make of DATA_DIR: nothing; all, where it is the first to use it; a registry beside stores that are there. */
export type Use = 'used' | 'first' | 'adopting';

/** What the service keeps, opened for an operator's command: other processes may serve it at the same time. */
export interface Workshop {
  readonly administration: Administration;
  /** Records of a store, as their master. */
  readonly contextOf: ContextOf;
  /** Opens a system's records, as its master, for the time of some work. @throws OperatorError where there is no such system */
  withRecords<T>(appId: string, work: (context: RecordContext) => Promise<T>): Promise<T>;
  /**
   * Opens the files of a system, or of every one in turn, for the time of some work.
   * @param appId left out: every one
   * @returns of every one: those that are refused, or not available now, and why; the others were worked with
   * @throws OperatorError where there is no such system, or the files cannot be reached
   */
  withFiles(
    appId: string | undefined,
    work: (files: Files, system: FileSystem, isOnly: boolean) => Promise<void>,
  ): Promise<ReadonlyMap<string, unknown>>;
  readonly backups: Backups;
  /** The files of all systems. @throws OperatorError where they cannot be reached */
  files(): Promise<Files>;
  /** Who else works on the same store now. */
  company(): Company;
  close(): Promise<void>;
}

/**
 * Opens the stores for an operator's command.
 * @param use what the command may make
 * @throws OperatorError where DATA_DIR holds nothing and should, or PostgreSQL cannot be used; errors of the operating system where
 *   DATA_DIR cannot be
 */
export async function openWorkshop(config: Config, databaseUrl: string | undefined, use: Use): Promise<Workshop> {
  if (databaseUrl === undefined && use === 'used') await refuseEmpty(config);
  makeDataDirectory(config);
  const log = createLog(config.logLevel);
  // A service may go on without the file of its registry, of which another one is not to be made beside it.
  const lock =
    databaseUrl === undefined && use === 'adopting' && (await isLost(config)) ? ProcessLock.take(lockOf(config)) : null;
  const stores = await openStores(config, databaseUrl, log, { mayMake: use === 'adopting' });
  const { registry, engine } = stores;
  // Most commands need no files, and should not fail where these cannot be reached.
  let opened: Promise<Files> | undefined;
  const files = () => (opened ??= openFiles(config, stores, { log, conditions: new Conditions(log) }));
  const contextOf = masterOf(
    hooksWith(
      fileKeeper(async (system, file) => (await files()).complete(system, file)),
      // A command queues triggers and leaves them to a service.
      new WriteRelay(),
    ),
  );
  const appIds = () => registry.read().systems.map(({ appId }) => appId);
  const administration = new Administration(registry, engine, () => openBytes(config, log));
  let bytes: Promise<FileStore> | undefined;
  const backups = new Backups({
    administration,
    registry,
    engine,
    engineName: databaseUrl === undefined ? 'sqlite' : 'postgres',
    files: () => (bytes ??= openBytes(config, log)),
    makeFilePlace: (place) => makeFilePlace(config, place),
    spoolDirectory: config.dataDir,
    storeDirectory: databaseUrl === undefined ? config.dataDir : null,
  });
  const withStore = async <T>(appId: string, work: (store: Store) => Promise<T>): Promise<T> => {
    administration.checkSystem(appId);
    const store = await openStore(engine, registry, appId, 'work', (since) => tellMissing(log)(appId, since));
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  };
  return {
    administration,
    backups,
    contextOf,
    withRecords: (appId, work) => withStore(appId, (store) => work(contextOf(store, appId))),
    async withFiles(appId, work) {
      const all = appId === undefined ? appIds() : [appId];
      const refused = new Map<string, unknown>();
      for (const each of all) {
        // It may have been removed before its turn.
        if (appId === undefined && !appIds().includes(each)) continue;
        try {
          await withStore(each, async (store) => {
            const doubtedUntil = (await registry.storeOf(each))?.noticedAt ?? null;
            await work(await files(), { appId: each, store, doubtedUntil }, all.length === 1);
          });
        } catch (error) {
          if (appId !== undefined || !(error instanceof StoreRefused || isUnavailable(error))) throw error;
          refused.set(each, error);
        }
      }
      return refused;
    },
    files,
    company() {
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

/** @throws OperatorError where the files cannot be reached */
export async function openFiles(
  config: Config,
  { registry, addresses }: Stores,
  { log, conditions }: { readonly log: Logger; readonly conditions: Conditions },
): Promise<Files> {
  return new Files({ bytes: await openBytes(config, log), addresses, secret: registry.salt, conditions });
}

/** @throws OperatorError where the files cannot be reached */
export function openBytes(config: Config, log: Logger): Promise<FileStore> {
  return openFileStore(config, (fault) => log.error({ fault }, 'FILES_URL'));
}
