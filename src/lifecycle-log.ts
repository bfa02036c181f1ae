import type { Config, Secrets } from './config/index.ts';
import { shortKeyWarning } from './kernel/credentials.ts';
import { serviceVersion } from './kernel/version.ts';
import { createLog } from './observe/index.ts';
import type { StoredPlace } from './storage/identity.ts';

/** What has the service end. */
export type StopCause = NodeJS.Signals | 'fault';

/** Lines that tell when the service started and why it stopped (CONTRACT "Operations"). */
export interface LifecycleLog {
  /** @param systems how many it has @param address where it listens */
  started(systems: number, address: string): void;
  /** Told once; later causes are passed over. */
  stopping(cause: StopCause): void;
  stopped(): void;
  /** A store is there that the registry does not know. */
  stranger(place: StoredPlace): void;
}

/** Tells of keys in the settings that are soon found. */
export function warnOfShortKeys({ logLevel }: Config, { masterKey, apiKey }: Secrets): void {
  const warnings = [shortKeyWarning('MASTER_KEY', masterKey), shortKeyWarning('API_KEY', apiKey)].filter((one) => one !== null);
  for (const warning of warnings) createLog(logLevel).warn(warning);
}

/** @param engine what keeps the records */
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
      // Since the process began.
      const ms = Math.round(performance.now());
      log.info({ version: serviceVersion(), node: process.versions.node, engine, systems, address, ms }, 'started');
    },
    stopping(cause) {
      // A start that fails says why in its own line, and nothing else.
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
