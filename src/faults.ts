import type { Config } from './config/index.ts';
import { OperatorError } from './kernel/operator-error.ts';
import { createLog } from './observe/index.ts';

/** Time limit for an orderly exit after a fault, in milliseconds. */
const END_TIMEOUT_MS = 10_000;

/** Handles uncaught errors of the service. The state of the process is unknown after one, so the process ends. */
export interface Faults {
  /** Rejects at the first fault, with an OperatorError. */
  readonly first: Promise<never>;
  /** Checks for a fault during shutdown, when nothing awaits `first` any more. @throws OperatorError */
  check(): void;
  /** Logs a fault and starts the timeout after which the process is terminated. */
  report(error: unknown): void;
}

/** Logs faults at level fatal, with the stack. */
export function faultsOf({ logLevel }: Config): Faults {
  const log = createLog(logLevel);
  const { promise: first, reject } = Promise.withResolvers<never>();
  // A fault may occur before anything awaits it.
  first.catch(() => {});
  const ended = new OperatorError('ended by a fault, which the log tells of');
  let isEnding = false;
  return {
    first,
    check() {
      if (isEnding) throw ended;
    },
    report(error) {
      log.fatal({ err: error instanceof Error ? error : new Error(String(error)) }, 'a fault ends the process');
      if (isEnding) return;
      isEnding = true;
      setTimeout(() => process.exit(1), END_TIMEOUT_MS).unref();
      reject(ended);
    },
  };
}
