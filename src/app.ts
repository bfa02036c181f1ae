import { join } from 'node:path';
import { master } from './access/index.ts';
import { deleteOld, timeline } from './audit/index.ts';
import { Automation, triggerObserver, triggerRules, type WriteListener } from './automation/index.ts';
import type { Config, Secrets } from './config/index.ts';
import { isUnavailable } from './errors/fail.ts';
import { type FileStore, type FileSystem, Files, fileKeeper, openFileStore } from './files/index.ts';
import { Functions } from './functions/index.ts';
import { HttpServer, limitOf } from './http/index.ts';
import { isoText } from './kernel/time.ts';
import { createMailer } from './mail/index.ts';
import { AgentTools } from './mcp/index.ts';
import { OAuth, sweepItems } from './oauth/index.ts';
import { Conditions, createLog, type Logger } from './observe/index.ts';
import type { FileKeeper, RecordContext, WriteHooks } from './records/index.ts';
import { StoreRefused } from './storage/identity.ts';
import type { Store } from './storage/port.ts';
import { ProcessLock } from './storage/sqlite/index.ts';
import { isLost, lockOf, makeDataDirectory, openStores, refuseEmpty, type Stores } from './stores.ts';
import { Administration, Deletions, KeyGuard, openStore, type System, Systems, Upkeep } from './systems/index.ts';
import type { Company } from './transfer/index.ts';
import { PasswordResets, Users, userTableRules } from './users/index.ts';

/** How long requests in flight may take after the service was told to end, and after a fault, in milliseconds. */
const DRAIN_BOUND = { told: 30_000, fault: 3_000 };
const HOUR = 3_600_000;

/**
 * Who has a say in every write, whatever path it comes by.
 * @param listener hears of what triggers are to do
 */
const hooksWith = (files: FileKeeper, listener: WriteListener): WriteHooks => ({
  observers: [timeline, triggerObserver(listener)],
  rules: new Map([...userTableRules, ['_Trigger', triggerRules]]),
  files,
});

/** A command queues triggers and leaves them to a service. */
const nobody: WriteListener = { queued() {}, doubted() {}, triggersChanged() {} };

/** Makes contexts for the records of a store as its master writes them. */
type ContextOf = (store: Store, appId: string) => RecordContext;

const masterOf =
  (hooks: WriteHooks): ContextOf =>
  (store, appId) => ({ appId, store, principal: master, hooks, referer: null });

const missingText = (since: number) => `the log of changes was cut or removed: writes since ${isoText(since)} may be missing`;

/** The service as a whole. */
export interface App {
  readonly administration: Administration;
  /** Records of a store, as their master. */
  readonly contextOf: ContextOf;
  /** Starts to listen. @returns the address */
  listen(): Promise<string>;
  /** Says, to who asks whether it is ready, that it is about to end. */
  drain(): void;
  /**
   * Finishes the requests in flight and closes every store.
   * @param cause bounds how long these may take: after a fault, one may never be answered
   */
  close(cause: 'told' | 'fault'): Promise<void>;
}

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
  /** Who else works on the same store now. */
  company(): Company;
  close(): Promise<void>;
}

/**
 * Puts the service together; the only place, beside `openWorkshop`, where adapters are constructed.
 * @param fault given errors of the service's own that nobody caught; the process is to end after one
 * @throws OperatorError where another process serves DATA_DIR or PostgreSQL cannot be used, and errors of the operating system where
 *   DATA_DIR cannot be
 */
export async function createApp(
  config: Config,
  { smtpUrl, databaseUrl }: Pick<Secrets, 'smtpUrl' | 'databaseUrl'>,
  fault: (error: unknown) => void,
): Promise<App> {
  const log = createLog(config.logLevel);
  makeDataDirectory(config);
  const lock = databaseUrl === undefined ? ProcessLock.take(lockOf(config)) : null;
  const conditions = new Conditions(log);
  const stores = await openStores(config, databaseUrl, log, { conditions });
  let files: Files | undefined;
  const close = async () => {
    await files?.close();
    await stores.close();
    conditions.close();
    lock?.release();
  };
  try {
    files = await openFiles(config, stores, { log, conditions });
    return await assemble(config, smtpUrl, { ...stores, close }, files, { log, conditions, fault });
  } catch (error) {
    // Connections that are open would keep the process.
    await close();
    throw error;
  }
}

/** Where goes what nobody who calls hears of. */
interface Told {
  readonly log: Logger;
  readonly conditions: Conditions;
  readonly fault: (error: unknown) => void;
}

async function assemble(
  config: Config,
  smtpUrl: string | undefined,
  stores: Stores,
  files: Files,
  { log, conditions, fault }: Told,
): Promise<App> {
  const { addresses } = stores;
  const hooks = hooksWith(files.keeper, {
    queued: (context) => automation.queued(context),
    doubted: (context, schedules) => automation.doubted(context, schedules),
    triggersChanged: (context) => automation.triggersChanged(context),
  });
  const keyGuard = new KeyGuard((address) =>
    log.warn({ address }, 'keys are tried out: unknown ones of this address are refused'),
  );
  const notClosed = (error: unknown) => log.error({ err: error }, 'a system was not closed well');
  const missing = (app: string, since: number) => log.error({ app, since: isoText(since) }, missingText(since));
  const systems = new Systems(stores.registry, stores.engine, config.systemIdle, notClosed, keyGuard, { conditions, missing });
  const upkeep = new Upkeep(
    () => systems.opened(),
    [
      { name: 'retention', run: ({ store }, isEnough) => deleteOld(store, config, Date.now(), isEnough) },
      { name: 'sign-ins', run: ({ store }, isEnough) => sweepItems(store, isEnough) },
      { name: 'uploads', run: (system, isEnough) => files.noteArrived(system, isEnough) },
    ],
    (error, job) => log.error({ err: error, job }, 'a periodic job failed'),
  );
  // Each process has a directory where uploads arrive, whatever systems it serves.
  const clearing = setInterval(() => files.clearAbandoned(), HOUR).unref();
  const administration = new Administration(stores.registry, stores.engine, () => openBytes(config, log));
  const deletions = new Deletions(administration, (error, appIds) => {
    if (error) log.error({ err: error }, 'removed systems were not deleted; it is tried again within the hour');
    else log.info({ apps: appIds }, 'systems that were removed 14 days ago were deleted');
  });
  const users = new Users(config.sessionDays);
  const mailer = await createMailer({ ...config, smtpUrl, directory: join(config.dataDir, 'mail') }, log);
  const { trustProxy } = config;
  const resets = new PasswordResets({ mailer, baseUrl: () => addresses.base, log });
  const baseUrl = () => addresses.base;
  const functions = new Functions({ directory: config.functionsDir, timeLimit: config.functionTimeout, hooks, log, fault });
  await functions.load();
  const automation = new Automation({ systems, hooks, functions, mailer, log, conditions });
  const shared = { systems, users, files, hooks, log, conditions, trustProxy, baseUrl };
  const { salt: secret } = stores.registry;
  const oauth = new OAuth({ ...shared, secret, rateLimits: config.rateLimits, limitOf });
  const bearer = (system: System, token: string) => oauth.bearer(system, token);
  const probe = () => stores.engine.probe();
  const agentTools = new AgentTools({ ...shared, automation, host: config.host, bearer });
  const http = await HttpServer.create({ ...shared, resets, functions, probe }, config, [agentTools, oauth]);
  return {
    administration,
    contextOf: masterOf(hooks),
    async listen() {
      const address = await http.listen();
      addresses.listenAt(address);
      stores.engine.warmUp();
      agentTools.warmUp();
      automation.start();
      deletions.start();
      return address;
    },
    drain: () => http.drain(),
    async close(cause) {
      clearInterval(clearing);
      await http.close(DRAIN_BOUND[cause]);
      await automation.close();
      await upkeep.close();
      await deletions.close();
      await systems.close();
      await mailer.close();
      await stores.close();
    },
  };
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
  const lock = databaseUrl === undefined && use === 'adopting' && isLost(config) ? ProcessLock.take(lockOf(config)) : null;
  const stores = await openStores(config, databaseUrl, log, { mayMake: use === 'adopting' });
  const { registry, engine } = stores;
  // Most commands need no files, and should not fail where these cannot be reached.
  let opened: Promise<Files> | undefined;
  const files = () => (opened ??= openFiles(config, stores, { log, conditions: new Conditions(log) }));
  const contextOf = masterOf(
    hooksWith(
      fileKeeper(async (system, file) => (await files()).complete(system, file)),
      nobody,
    ),
  );
  const appIds = () => registry.read().systems.map(({ appId }) => appId);
  const administration = new Administration(registry, engine, () => openBytes(config, log));
  const withStore = async <T>(appId: string, work: (store: Store) => Promise<T>): Promise<T> => {
    administration.checkSystem(appId);
    const store = await openStore(engine, registry, appId, 'work', (since) =>
      log.error({ app: appId, since: isoText(since) }, missingText(since)),
    );
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  };
  return {
    administration,
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
    company() {
      if (databaseUrl !== undefined) return 'working';
      return ProcessLock.isHeld(lockOf(config)) ? 'waiting' : 'none';
    },
    async close() {
      await (await opened)?.close();
      await stores.close();
      lock?.release();
    },
  };
}

/** @throws OperatorError where the files cannot be reached */
async function openFiles(
  config: Config,
  { registry, addresses }: Stores,
  { log, conditions }: Pick<Told, 'log' | 'conditions'>,
): Promise<Files> {
  return new Files({ bytes: await openBytes(config, log), addresses, secret: registry.salt, conditions });
}

/** @throws OperatorError where the files cannot be reached */
function openBytes(config: Config, log: Logger): Promise<FileStore> {
  return openFileStore(config, (fault) => log.error({ fault }, 'FILES_URL'));
}
