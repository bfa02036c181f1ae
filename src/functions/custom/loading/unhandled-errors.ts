/** Handles errors of functions that have ended: rejected promises without a handler, timers that throw. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { failureOf } from './failure.ts';

/** The function whose code is running. */
export interface RunningFunction {
  /** The application id; omitted while a file is loading. */
  readonly system?: string;
  readonly function: string;
  /** Number of the call; omitted while a file is loading. */
  readonly call?: number;
  /** Headers that carry the trace of the call on. */
  readonly trace?: Readonly<Record<string, string>> | undefined;
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

/** Returns the function whose code is running. */
export const runningFunction = (): RunningFunction | null => running.getStore() ?? null;

let isInstalled = false;

/** What logs an unhandled error. */
export interface ErrorLog {
  error(about: { readonly err: Error; readonly system?: string | undefined; readonly function: string }, text: string): void;
}

/**
 * Keeps the thread alive after unhandled errors of functions, which are logged.
 * @param fault called with all other uncaught exceptions, after which the thread must end; not called if there are further listeners, which are
 *   responsible then
 */
export function catchUnhandledErrors(log: ErrorLog, fault: (error: unknown) => void): void {
  if (isInstalled) return;
  isInstalled = true;
  const logIfOfFunction = (thrown: unknown): boolean => {
    const who = running.getStore();
    const about = who && { ...(who.system !== undefined && { system: who.system }), function: who.function };
    if (about) log.error({ err: failureOf(thrown).logged, ...about }, 'a function left something behind that failed');
    return Boolean(who);
  };
  process.on('unhandledRejection', (reason) => {
    if (!logIfOfFunction(reason) && process.listenerCount('unhandledRejection') === 1) throw reason;
  });
  process.on('uncaughtException', (error) => {
    if (!logIfOfFunction(error) && process.listenerCount('uncaughtException') === 1) fault(error);
  });
}
