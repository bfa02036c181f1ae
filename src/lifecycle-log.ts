import type { Config, Secrets } from './config/index.ts';
import { shortKeyWarning } from './kernel/credentials.ts';
import { serviceVersion } from './kernel/version.ts';
import { createLog } from './observe/index.ts';
import type { StoredPlace } from './storage/identity.ts';

/** Cause of a shutdown. */
export type StopCause = NodeJS.Signals | 'fault';

/** Log lines for start and stop. Reference: operations.md#log-lines. */
export interface LifecycleLog {
  /** @param systems number of systems @param address listening address */
  started(systems: number, address: string): void;
  /** Logged once; later causes are ignored. */
  stopping(cause: StopCause): void;
  stopped(): void;
  /** The service has several processes, and begins to replace them. Later lines have the level of the new settings. */
  reloading(config: Pick<Config, 'logLevel'>): void;
  /** All of them were replaced. */
  reloaded(result: { readonly processes: number; readonly finishing: number; readonly version: string | undefined }): void;
  /** @param why one line @param processes number of processes that go on */
  reloadFailed(why: string, processes: number): void;
  /** @param names settings that were changed, and that a reload does not apply */
  needsRestart(names: readonly string[]): void;
  /** The service has one process, which a reload cannot replace. */
  cannotReload(): void;
  /** A store exists that the registry does not know. */
  stranger(place: StoredPlace): void;
}

/** Warns of keys in the settings that are too short to resist guessing. */
export function warnOfShortKeys({ logLevel }: Config, { masterKey, apiKey, metricsToken }: Secrets): void {
  const keys = { MASTER_KEY: masterKey, API_KEY: apiKey, METRICS_TOKEN: metricsToken };
  const warnings = Object.entries(keys)
    .map(([name, key]) => shortKeyWarning(name, key))
    .filter((one) => one !== null);
  for (const warning of warnings) createLog(logLevel).warn(warning);
}

/** @param engine the storage engine */
export function lifecycleLog({ logLevel }: Config, engine: 'sqlite' | 'postgres'): LifecycleLog {
  const log = createLog(logLevel);
  let hasStarted = false;
  let stoppingAt: number | undefined;
  let reloadingAt = 0;
  return {
    stranger({ name, place }) {
      const command = `record-service system adopt ${name ?? 'APP'}`;
      log.error(
        { store: place, ...(name !== null && { app: name }) },
        `${place} is not registered and not served: ${command} takes it in`,
      );
    },
    started(systems, address) {
      hasStarted = true;
      // Milliseconds since the process started.
      const ms = Math.round(performance.now());
      log.info({ version: serviceVersion(), node: process.versions.node, engine, systems, address, ms }, 'started');
    },
    stopping(cause) {
      // A failed start logs only its own error.
      if (stoppingAt !== undefined || (cause === 'fault' && !hasStarted)) return;
      stoppingAt = performance.now();
      if (cause === 'fault') log.info({ cause }, 'stopping');
      else log.info({ signal: cause }, 'stopping');
    },
    reloading(changed) {
      reloadingAt = performance.now();
      log.level = changed.logLevel;
      log.info('reloading');
    },
    reloaded({ finishing, ...result }) {
      log.info({ ...result, ...(finishing > 0 && { finishing }), ms: Math.round(performance.now() - reloadingAt) }, 'reloaded');
    },
    reloadFailed(why, processes) {
      log.error({ why, processes }, 'reload failed');
    },
    needsRestart(names) {
      log.warn({ settings: names }, 'changed settings wait for a restart');
    },
    cannotReload() {
      log.warn('SIGHUP changes nothing in a service of one process: restart it, or set WEB_CONCURRENCY to 2 or more');
    },
    stopped() {
      if (stoppingAt !== undefined) log.info({ ms: Math.round(performance.now() - stoppingAt) }, 'stopped');
    },
  };
}
