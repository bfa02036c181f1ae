import cluster, { type Worker } from 'node:cluster';
import { setTimeout as wait } from 'node:timers/promises';
import { OperatorError } from './kernel/operator-error.ts';

/** A process that ends sooner than this after its start will hardly do better the next time, in milliseconds. */
const SHORT_LIFE = 5_000;
/** Until another is started for one that ended so soon, while others serve: the database may be away. */
const PAUSE = 1_000;
/** How long a process may take to end, beyond what it grants its requests, in milliseconds. */
const END_BOUND = 40_000;

/** What a process that serves tells the one that started it: it listens. */
interface Listening {
  readonly listening: string;
}

/** Whether this process was started by another to serve beside its like. */
export const isWorker: boolean = cluster.isWorker;

/** Has this process go on to its end where the one that started it is gone; a worker would else end at once, its requests with it. */
export function endInOrder(): void {
  if (cluster.worker) cluster.worker.exitedAfterDisconnect = true;
}

/** Tells the process that started this one where it listens. */
export function tellListening(address: string): void {
  process.send?.({ listening: address } satisfies Listening);
}

/**
 * Serves with several processes, which share the address: starts them, tells when all listen, starts another for one that has ended, and
 * ends them all when told to.
 * @param count of processes
 * @param told resolves when all is to end
 * @param listening called once, with the address
 * @throws OperatorError where a process ends before it could serve, which has said why itself
 */
export async function serveWith(count: number, told: Promise<void>, listening: (address: string) => void): Promise<void> {
  const ended = new Set<Promise<void>>();
  let ending = false;
  let ready = 0;
  const failed = Promise.withResolvers<never>();
  const start = () => {
    const began = performance.now();
    const worker = cluster.fork();
    worker.on('message', (message: Partial<Listening>) => {
      if (typeof message?.listening === 'string' && ++ready === count) listening(message.listening);
    });
    const end = new Promise<void>((resolve) => {
      worker.once('exit', () => {
        resolve();
        ended.delete(end);
        if (ending) return;
        if (performance.now() - began >= SHORT_LIFE) start();
        else if (ready >= count) setTimeout(() => ending || start(), PAUSE).unref();
        else failed.reject(new OperatorError('a process of the service ended as soon as it began'));
      });
    });
    ended.add(end);
  };
  for (let n = 0; n < count; n++) start();
  try {
    await Promise.race([told, failed.promise]);
  } finally {
    ending = true;
    for (const worker of workers()) worker.send('end', () => {});
    await Promise.race([Promise.all(ended), wait(END_BOUND, undefined, { ref: false })]);
    for (const worker of workers()) worker.process.kill('SIGKILL');
  }
}

const workers = (): Worker[] => Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);

/** Resolves, in a process that another started, when that one says so or has ended. */
export function toldByStarter(): Promise<void> {
  return new Promise((resolve) => {
    process.once('message', () => resolve());
    process.once('disconnect', () => resolve());
  });
}
