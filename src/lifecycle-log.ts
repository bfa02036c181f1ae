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
    stopped() {
      if (stoppingAt !== undefined) log.info({ ms: Math.round(performance.now() - stoppingAt) }, 'stopped');
    },
  };
}
