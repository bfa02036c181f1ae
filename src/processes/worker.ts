import cluster from 'node:cluster';
import { expectedInstallation } from '../config/index.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import { serviceVersion } from '../kernel/version.ts';
import type { Command, Listening } from './messages.ts';

/** Whether this process is a worker, started by a primary process. */
export const isWorker: boolean = cluster.isWorker;

/** Prepares a worker: it ignores signals, which a terminal sends to all processes, and finishes its requests if the primary process is gone. */
export function beWorker(): void {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
  // By default it would exit at once.
  if (cluster.worker) cluster.worker.exitedAfterDisconnect = true;
}

/**
 * Refuses another installation than the one that the primary process serves: new workers beside old ones would split the service in two.
 * @param installation `Administration.installation`
 * @throws OperatorError
 */
export function checkInstallation(installation: string): void {
  const expected = expectedInstallation();
  if (expected === undefined || expected === installation) return;
  throw new OperatorError('DATABASE_URL: another database than the one that is served: restart the service to change it');
}

/** Reports the listening address to the primary process. */
export function reportListening(address: string): void {
  process.send?.({ listening: address, version: serviceVersion() } satisfies Listening);
}

/** What the primary process may ask of a worker. */
export interface WorkerTasks {
  /** Announces the shutdown. */
  drain(): void;
  /** Stops accepting connections. @returns when the last request has been answered */
  retire(): Promise<void>;
}

/** Resolves, in a worker, when it must stop: the primary process has requested it or is gone, or the worker has retired. */
export function stopRequested(tasks: WorkerTasks): Promise<void> {
  return new Promise((resolve, reject) => {
    process.on('message', (command: Command) => {
      if (command === 'drain') tasks.drain();
      else if (command === 'retire') tasks.retire().then(resolve, reject);
      else if (command === 'end') resolve();
    });
    process.once('disconnect', () => resolve());
  });
}
