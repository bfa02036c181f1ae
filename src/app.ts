import { join } from 'node:path';
import { deliverActs } from './acts/index.ts';
import { deleteOld, requestLog } from './audit/index.ts';
import { Automation } from './automation/index.ts';
import { WriteRelay } from './automation/matching/trigger-observer.ts';
import { startBackups } from './backup-schedule.ts';
import { type ContextOf, hooksWith, masterContexts, missingLogger, openBytes, openFiles } from './command-context.ts';
import type { Config, Secrets } from './config/index.ts';
import { Console } from './console/index.ts';
import { ensureSearchIndexes } from './crm/search/search-index.ts';
import type { Files } from './files/index.ts';
import { Functions } from './functions/index.ts';
import { HttpServer, rateLimitOf } from './http/index.ts';
import { HOUR_MS } from './kernel/time.ts';
import { createMailer } from './mail/index.ts';
import { AgentTools } from './mcp/index.ts';
import { type AppMetrics, createMetrics, listenForScrapes } from './metrics/index.ts';
import { OAuth, sweepItems } from './oauth/index.ts';
import {
  Conditions,
  createLog,
  faultPlace,
  type Logger,
  Observations,
  SlowQueryLog,
  startTraces,
  stopTraces,
  type Tracer,
} from './observe/index.ts';
import type { MetricsListener, Scrape } from './observe/metrics/listener.ts';
import { ProcessLock } from './storage/sqlite/index.ts';
import { lockOf, makeDataDirectory, openStores, type Stores } from './stores.ts';
import { Administration, DailyVisits, Deletions, KeyGuard, Maintenance, type System, Systems } from './systems/index.ts';
import { deleteOldImports, ImportJobs } from './transfer/index.ts';
import { PasswordResets, Users } from './users/index.ts';

/** Time for requests in flight to finish, after a signal and after a fault, in milliseconds. */
const DRAIN_TIMEOUTS_MS = { signal: 30_000, fault: 3_000 };

/** The service as a whole. */
export interface App {
  readonly administration: Administration;
  /** Returns a context with master rights for the records of a store. */
  readonly contextOf: ContextOf;
  /** Starts listening. @returns the address */
  listen(): Promise<string>;
  /** `null` if METRICS_PORT and METRICS_TOKEN are not set. */
  readonly metrics: AppMetrics | null;
  /** Makes health checks report that the service is about to stop. */
  drain(): void;
  /** Stops accepting connections while other processes go on. @returns when the last request has been answered */
  retire(): Promise<void>;
  /**
   * Finishes the requests in flight and closes every store.
   * @param cause determines the time limit: after a fault, a request may never be answered
   */
  close(cause: 'signal' | 'fault'): Promise<void>;
}

/**
 * Composes the service. Adapters are constructed here and in `openCommandContext` only.
 * @param scrapeAll returns the metrics of all processes; absent if there is only this one
 * @throws OperatorError if another process serves DATA_DIR or PostgreSQL cannot be used; errors of the operating system if DATA_DIR cannot be used
 */
export async function createApp(
  config: Config,
  {
    smtpUrl,
    databaseUrl,
    metricsToken,
    functionEnv,
    tracing,
  }: Pick<Secrets, 'smtpUrl' | 'databaseUrl' | 'metricsToken' | 'functionEnv' | 'tracing'>,
  scrapeAll?: Scrape,
): Promise<App> {
  const log = createLog(config.logLevel);
  makeDataDirectory(config);
  const lock = databaseUrl === undefined ? ProcessLock.take(lockOf(config)) : null;
  const conditions = new Conditions(log);
  const observations = new Observations(
    (error) => conditions.met('an observation was not taken', faultPlace(error), error),
    config.slowQueryMs === 0 ? Number.POSITIVE_INFINITY : config.slowQueryMs,
  );
  const slowQueries = new SlowQueryLog(log);
  observations.subscribe(['query'], slowQueries.observed);
  const stores = await openStores(config, databaseUrl, log, { conditions, observations });
  let files: Files | undefined;
  let tracer: Tracer | undefined;
  const close = async () => {
    await files?.close();
    slowQueries.close();
    await stores.close();
    if (tracer) await stopTraces(tracer);
    conditions.close();
    lock?.release();
  };
  try {
    if (tracing) tracer = await startTraces(tracing, conditions);
    files = await openFiles(config, stores, { log, conditions });
    const secrets = { smtpUrl, metricsToken, functionEnv };
    return await assemble(config, secrets, { ...stores, close }, files, { log, conditions, observations, scrapeAll });
  } catch (error) {
    // Open connections would keep the process alive.
    await close();
    throw error;
  }
}

/** Sinks for events that have no caller. */
interface Diagnostics {
  readonly log: Logger;
  readonly conditions: Conditions;
  readonly observations: Observations;
  readonly scrapeAll: Scrape | undefined;
}

async function assemble(
  config: Config,
  { smtpUrl, metricsToken, functionEnv: env }: Pick<Secrets, 'smtpUrl' | 'metricsToken' | 'functionEnv'>,
  stores: Stores,
  files: Files,
  { log, conditions, observations, scrapeAll }: Diagnostics,
): Promise<App> {
  const { addresses } = stores;
  const writes = new WriteRelay();
  const hooks = hooksWith(files.keeper, writes, observations);
  const keyGuard = new KeyGuard((address) =>
    log.warn({ address }, 'keys are tried out: unknown ones of this address are refused'),
  );
  const notClosed = (error: unknown) => log.error({ err: error }, 'a system was not closed well');
  const missing = missingLogger(log);
  const systems = new Systems(stores.registry, stores.engine, config.systemIdle, notClosed, keyGuard, { conditions, missing });
  observations.subscribe(['call'], requestLog(systems, conditions));
  const metrics =
    config.metrics || metricsToken ? await createMetrics({ config, stores, systems, observations, conditions }) : null;
  const scrape = metrics && (scrapeAll ?? metrics.scrapeAlone);
  const upkeep = new Maintenance(
    () => systems.opened(),
    [
      { name: 'retention', run: ({ store }, shouldStop) => deleteOld(store, config, Date.now(), shouldStop) },
      { name: 'acts', run: (system) => deliverActs(stores.registry, system.registration.entry.id, system.store) },
      { name: 'sign-ins', run: ({ store }, shouldStop) => sweepItems(store, shouldStop) },
      { name: 'search indexes', run: ({ store }, shouldStop) => ensureSearchIndexes(store, shouldStop), isOfUse: true },
      { name: 'imports', run: ({ store }, shouldStop) => deleteOldImports(store, Date.now(), shouldStop) },
      { name: 'uploads', run: (system, shouldStop) => files.confirmUploads(system, shouldStop) },
    ],
    (error, job) => log.error({ err: error, job }, 'a periodic job failed'),
  );
  const visits = new DailyVisits(
    systems,
    (system) => upkeep.visit(system),
    (error) => log.error({ err: error }, 'a system was not visited for its periodic work'),
  );
  // Uploads arrive in a directory per process, independent of the systems it serves.
  const clearing = setInterval(() => files.clearAbandoned(), HOUR_MS).unref();
  const administration = new Administration(stores.registry, stores.engine, () => openBytes(config, log));
  const deletions = new Deletions(administration, (error, appIds) => {
    if (error)
      log.error(
        { err: error },
        'removed systems, or what was not made to its end, were not deleted; it is tried again within the hour',
      );
    else log.info({ apps: appIds }, 'systems that were removed 14 days ago were deleted');
  });
  const users = new Users(config.sessionDays, observations);
  const mailer = await createMailer({ ...config, smtpUrl, directory: join(config.dataDir, 'mail') }, log, observations);
  const { trustProxy } = config;
  const resets = new PasswordResets({ mailer, addresses, log });
  const { functionsDir: directory, functionTimeout: timeLimit, functionMemoryMb: memoryMb } = config;
  const functions = new Functions({ directory, timeLimit, memoryMb, env, hooks, log, observations });
  const imports = new ImportJobs({ systems, files, hooks, conditions });
  const searched = metrics ? [imports.searched, metrics.searched] : [imports.searched];
  const automation = new Automation({ systems, hooks, functions, mailer, log, conditions, searched });
  writes.passTo(automation);
  const shared = { systems, users, files, hooks, log, conditions, observations, trustProxy, addresses };
  let backups: ReturnType<typeof startBackups> = null;
  const { salt: secret } = stores.registry;
  const oauth = new OAuth({ ...shared, secret, rateLimits: config.rateLimits, limitOf: rateLimitOf });
  const bearer = (system: System, token: string) => oauth.bearer(system, token);
  const probe = () => stores.engine.probe();
  const agentTools = new AgentTools({ ...shared, automation, host: config.host, bearer });
  const { rateLimits, dataDir } = config;
  const pages = new Console({ ...shared, automation, secret, dataDir, rateLimits, limitOf: rateLimitOf });
  const fileViewer: Console['fileViewer'] = (system, cookie) => pages.fileViewer(system, cookie);
  const access = scrape && metricsToken !== undefined ? { token: metricsToken, scrape } : undefined;
  const options = { ...config, scrapes: access };
  const http = await HttpServer.create({ ...shared, resets, functions, imports, probe, fileViewer }, options, [
    agentTools,
    oauth,
    pages,
  ]);
  let listener: MetricsListener | undefined;
  return {
    administration,
    metrics,
    contextOf: masterContexts(hooks),
    async listen() {
      if (scrape && config.metrics && !scrapeAll) listener = await listenForScrapes(config.metrics, scrape, log);
      const address = await http.listen();
      addresses.listenAt(address);
      stores.engine.warmUp();
      void functions.load();
      agentTools.warmUp();
      automation.start();
      imports.start();
      pages.prepare();
      deletions.start();
      backups = startBackups(config, stores, systems, masterContexts(hooks), log);
      return address;
    },
    drain: () => http.drain(),
    retire: () => http.retire(),
    async close(cause) {
      clearInterval(clearing);
      await backups?.close();
      pages.close();
      await http.close(DRAIN_TIMEOUTS_MS[cause]);
      await imports.close();
      await automation.close();
      await functions.close();
      await Promise.all([upkeep.close(), visits.close()]);
      await deletions.close();
      await systems.close();
      await mailer.close();
      await listener?.close();
      await stores.close();
    },
  };
}
