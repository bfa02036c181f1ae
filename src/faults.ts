import type { Config } from './config/index.ts';
import { OperatorError } from './kernel/operator-error.ts';
import { createLog } from './observe/index.ts';

/** How long the process may take to end after a fault, in milliseconds. */
const END_TIMEOUT_MS = 10_000;

/** Errors of the service's own that nobody caught. The state of the process is not known after one, so that it ends. */
export interface Faults {
  /** Rejects at the first one, with an OperatorError. */
  readonly first: Promise<never>;
  /** @throws OperatorError where there was one: while the service ends, nobody waits for the first any more */
  check(): void;
  /** Logs one; the process has so long to end in order, and is ended then. */
  report(error: unknown): void;
}

/** Log lines at level fatal, with the stack. */
export function faultsOf({ logLevel }: Config): Faults {
  const log = createLog(logLevel);
  const { promise: first, reject } = Promise.withResolvers<never>();
  // It may come before anybody waits for it.
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
