/** Handles errors of functions that have ended: rejected promises without a handler, timers that throw. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Logger } from '../../observe/index.ts';
import { failureOf } from './failure.ts';

/** The function whose code is running. */
export interface RunningFunction {
  /** The application id; omitted while a file is loading. */
  readonly system?: string;
  readonly function: string;
}

const running = new AsyncLocalStorage<RunningFunction | null>();

/** Runs code of a function, so that its unhandled errors are attributed to it. */
export function asFunction<T>(who: RunningFunction, work: () => T): T {
  return running.run(who, work);
}

/** Runs code of the service on behalf of a function, whose unhandled errors are the service's own. */
export function asService<T>(work: () => T): T {
  return running.run(null, work);
}

let isInstalled = false;

/**
 * Keeps the process alive after unhandled errors of functions, which are logged.
 * @param fault called with all other uncaught exceptions, after which the process must end; not called if the process has further listeners, which
 *   are responsible then
 */
export function catchUnhandledErrors(log: Logger, fault: (error: unknown) => void): void {
  if (isInstalled) return;
  isInstalled = true;
  const logIfOfFunction = (thrown: unknown): boolean => {
    const who = running.getStore();
    if (who) log.error({ err: failureOf(thrown).logged, ...who }, 'a function left something behind that failed');
    return Boolean(who);
  };
  process.on('unhandledRejection', (reason) => {
    if (!logIfOfFunction(reason) && process.listenerCount('unhandledRejection') === 1) throw reason;
  });
  process.on('uncaughtException', (error) => {
    if (!logIfOfFunction(error) && process.listenerCount('uncaughtException') === 1) fault(error);
  });
}
