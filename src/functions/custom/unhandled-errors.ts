/** What functions leave behind when they have answered: promises nobody waits for, timers that throw. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Logger } from '../../observe/index.ts';
import { failureOf } from './failure.ts';

/** Whose code runs. */
export interface Running {
  /** The application id; left out while a file is loaded. */
  readonly system?: string;
  readonly function: string;
}

const running = new AsyncLocalStorage<Running | null>();

/** Runs code of a function; what it leaves behind is known as its own. */
export function asFunction<T>(who: Running, work: () => T): T {
  return running.run(who, work);
}

/** Runs code of the service on a function's behalf: what goes wrong there is not the function's. */
export function asService<T>(work: () => T): T {
  return running.run(null, work);
}

let isKept = false;

/**
 * Keeps the process up where a function left a promise that fails or a timer that throws: it is logged.
 * @param fault is given all else, after which the process is to end; where others listen for it, it is theirs
 */
export function keepUp(log: Logger, fault: (error: unknown) => void): void {
  if (isKept) return;
  isKept = true;
  const told = (thrown: unknown): boolean => {
    const who = running.getStore();
    if (who) log.error({ err: failureOf(thrown).logged, ...who }, 'a function left something behind that failed');
    return Boolean(who);
  };
  process.on('unhandledRejection', (reason) => {
    if (!told(reason) && process.listenerCount('unhandledRejection') === 1) throw reason;
  });
  process.on('uncaughtException', (error) => {
    if (!told(error) && process.listenerCount('uncaughtException') === 1) fault(error);
  });
}
