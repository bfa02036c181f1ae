import cluster, { type Worker } from 'node:cluster';
import net from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { closeListener, type ListeningSocket, waitForQuiet } from './kernel/listening-socket.ts';
import { OperatorError } from './kernel/operator-error.ts';
import { type AcceptingHandle, type ClientHandle, listeningHandle } from './kernel/socket-handle.ts';

/** A process that lives shorter than this, in milliseconds, is not restarted at once: it would probably fail again. */
const SHORT_LIFE_MS = 5_000;
/** Delay before such a process is restarted while others serve: the database may be unavailable. */
const RESTART_DELAY_MS = 1_000;
/** Time until connections handed to a terminated process are given up, in milliseconds. Those handed to others have arrived by then. */
const ARRIVAL_TIMEOUT_MS = 1_000;
/** Time limit for a process to exit, in milliseconds; longer than the time it grants its requests. */
const END_TIMEOUT_MS = 40_000;

/** Message of a worker to the primary process: it listens. */
interface Listening {
  readonly listening: string;
}

/** Whether this process is a worker, started by a primary process. */
export const isWorker: boolean = cluster.isWorker;

/** Lets a worker finish its requests if the primary process is gone; by default it would exit at once. */
export function exitGracefully(): void {
  if (cluster.worker) cluster.worker.exitedAfterDisconnect = true;
}

/** Reports the listening address to the primary process. */
export function reportListening(address: string): void {
  process.send?.({ listening: address } satisfies Listening);
}

/**
 * Runs several worker processes that share one address: starts them, reports when all listen, replaces terminated ones, and stops all on request.
 * Reference: operations.md#processes.
 * @param count number of workers
 * @param stopped resolves when the service must stop
 * @param listening called once, with the address
 * @throws OperatorError if a worker exits before it could serve; the worker has logged the reason
 */
export async function servePrimary(count: number, stopped: Promise<void>, listening: (address: string) => void): Promise<void> {
  const ended = new Set<Promise<void>>();
  const socket = watchListeningSocket();
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
        socket.processEnded();
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
    await Promise.race([stopped, failed.promise]);
  } finally {
    ending = true;
    broadcast('drain');
    // Connections still in the accept queue are handed to workers that take requests.
    if (ready >= count) {
      await waitForQuiet(() => socket.accepted);
      await closeListener(socket);
    }
    broadcast('end');
    await Promise.race([Promise.all(ended), wait(END_TIMEOUT_MS, undefined, { ref: false })]);
    for (const worker of workers()) worker.process.kill('SIGKILL');
  }
}

const workers = (): Worker[] => Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);

/** Messages of the primary process to workers: announce the shutdown, and stop. */
type Command = 'drain' | 'end';

function broadcast(command: Command): void {
  for (const worker of workers()) worker.send(command, () => {});
}

/**
 * Resolves, in a worker, when the primary process requests a stop or has exited.
 * @param drain called when the shutdown is announced
 */
export function stopRequested(drain: () => void): Promise<void> {
  return new Promise((resolve) => {
    process.on('message', (command: Command) => {
      if (command === 'drain') drain();
      else if (command === 'end') resolve();
    });
    process.once('disconnect', () => resolve());
  });
}

/** The listening socket shared by all workers. */
interface SharedListeningSocket extends ListeningSocket {
  /** Closes connections that were handed to a terminated worker before they arrived there; Node would leak them. */
  processEnded(): void;
}

/**
 * Gives access to the listening socket that Node's cluster module creates internally. The primary process accepts connections and hands each to a
 * worker.
 * Node exposes no API for this socket, and closes it, including its accept queue, when the last worker has closed its own.
 */
function watchListeningSocket(): SharedListeningSocket {
  const handles: AcceptingHandle[] = [];
  /** Connections that have been handed over but not yet received by the worker; Node closes the primary's copy on receipt. */
  const inTransit = new Set<ClientHandle>();
  /** Connections held back while paused. */
  let held: (() => void)[] | undefined;
  const socket: SharedListeningSocket & { accepted: number } = {
    accepted: 0,
    get handle() {
      return handles[0];
    },
    pause() {
      held ??= [];
    },
    resume() {
      const hands = held ?? [];
      held = undefined;
      for (const hand of hands) hand();
    },
    close() {
      for (const handle of handles.splice(0)) handle.close();
    },
    processEnded() {
      const before = [...inTransit];
      setTimeout(() => {
        for (const client of before) if (inTransit.has(client)) client.close();
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
      // Node sets the handler later in this turn.
      process.nextTick(() => {
        const handOver = handle.onconnection;
        handle.onconnection = (error, client) => {
          socket.accepted++;
          const hand = () => {
            if (client) follow(client, inTransit);
            handOver(error, client);
          };
          if (held) held.push(hand);
          else hand();
        };
      });
    });
    return server;
  };
  return socket;
}

/** Tracks a connection in a set until it is closed in this process. */
function follow(client: ClientHandle, open: Set<ClientHandle>): void {
  const close = client.close;
  open.add(client);
  client.close = (...given) => {
    open.delete(client);
    Reflect.apply(close, client, given);
  };
}
