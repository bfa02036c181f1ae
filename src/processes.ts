import cluster, { type Worker } from 'node:cluster';
import net from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { closeDoor, type Door, lastCall } from './kernel/door.ts';
import { OperatorError } from './kernel/operator-error.ts';
import { type AcceptingHandle, type ClientHandle, listeningHandle } from './kernel/socket-handle.ts';

/** A process that ends sooner than this after its start will hardly do better the next time, in milliseconds. */
const SHORT_LIFE_MS = 5_000;
/** Until another is started for one that ended so soon, while others serve: the database may be away. */
const RESTART_DELAY_MS = 1_000;
/** Until connections are given up that were on their way to a process that has ended, in milliseconds: those to others have arrived by then. */
const ARRIVAL_TIMEOUT_MS = 1_000;
/** How long a process may take to end, beyond what it grants its requests, in milliseconds. */
const END_TIMEOUT_MS = 40_000;

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
  const door = watchDoor();
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
        door.processEnded();
        resolve();
        ended.delete(end);
        if (ending) return;
        if (performance.now() - began >= SHORT_LIFE_MS) start();
        else if (ready >= count) setTimeout(() => ending || start(), RESTART_DELAY_MS).unref();
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
    tellAll('drain');
    // Who waits to be accepted is handed to a process while one takes requests.
    if (ready >= count) {
      await lastCall(() => door.accepted);
      await closeDoor(door);
    }
    tellAll('end');
    await Promise.race([Promise.all(ended), wait(END_TIMEOUT_MS, undefined, { ref: false })]);
    for (const worker of workers()) worker.process.kill('SIGKILL');
  }
}

const workers = (): Worker[] => Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);

/** What the process that starts the others tells them: to say that they are about to end, and to end. */
type Order = 'drain' | 'end';

function tellAll(order: Order): void {
  for (const worker of workers()) worker.send(order, () => {});
}

/**
 * Resolves, in a process that another started, when that one says so or has ended.
 * @param drain called when it is soon to end
 */
export function toldByStarter(drain: () => void): Promise<void> {
  return new Promise((resolve) => {
    process.on('message', (order: Order) => {
      if (order === 'drain') drain();
      else if (order === 'end') resolve();
    });
    process.once('disconnect', () => resolve());
  });
}

/** The socket of all processes. */
interface SharedDoor extends Door {
  /** Connections that were handed to a process and did not arrive, since it has ended, are closed: Node would keep them open for ever. */
  processEnded(): void;
}

/**
 * The socket that Node makes for processes which share it: it is this process that accepts, and hands each connection to one of them. Node tells
 * nobody of that socket, and closes it, with all who wait, when the last process has closed its own.
 */
function watchDoor(): SharedDoor {
  const handles: AcceptingHandle[] = [];
  /** Closed here once the process that each was handed to has it. */
  const onTheirWay = new Set<ClientHandle>();
  /** Those that are handed to a process later. */
  let parked: (() => void)[] | undefined;
  const door: SharedDoor & { accepted: number } = {
    accepted: 0,
    get handle() {
      return handles[0];
    },
    park() {
      parked ??= [];
    },
    unpark() {
      const hands = parked ?? [];
      parked = undefined;
      for (const hand of hands) hand();
    },
    close() {
      for (const handle of handles.splice(0)) handle.close();
    },
    processEnded() {
      const before = [...onTheirWay];
      setTimeout(() => {
        for (const client of before) if (onTheirWay.has(client)) client.close();
      }, ARRIVAL_TIMEOUT_MS).unref();
    },
  };
  const createServer = net.createServer;
  net.createServer = (...given: unknown[]) => {
    const server = Reflect.apply(createServer, net, given) as net.Server;
    server.prependOnceListener('listening', () => {
      const handle = listeningHandle(server);
      if (!handle) return;
      handles.push(handle);
      // Node sets it in this turn.
      process.nextTick(() => {
        const handOver = handle.onconnection;
        handle.onconnection = (error, client) => {
          door.accepted++;
          const hand = () => {
            if (client) follow(client, onTheirWay);
            handOver(error, client);
          };
          if (parked) parked.push(hand);
          else hand();
        };
      });
    });
    return server;
  };
  return door;
}

/** Has a connection in a set until it is closed here. */
function follow(client: ClientHandle, open: Set<ClientHandle>): void {
  const close = client.close;
  open.add(client);
  client.close = (...given) => {
    open.delete(client);
    Reflect.apply(close, client, given);
  };
}
