import net from 'node:net';
import type { ListeningSocket } from '../kernel/listening-socket.ts';
import { type AcceptingHandle, type ClientHandle, listeningHandle } from '../kernel/socket-handle.ts';

/** Time until connections handed to a terminated process are given up, in milliseconds. Those handed to others have arrived by then. */
const ARRIVAL_TIMEOUT_MS = 1_000;

/** The listening socket shared by all workers. */
export interface SharedListeningSocket extends ListeningSocket {
  /** Closes connections that were handed to a terminated worker before they arrived there; Node would leak them. */
  processEnded(): void;
}

/**
 * Gives access to the listening socket that Node's cluster module creates internally. The primary process accepts connections and hands each to a
 * worker.
 * Node exposes no API for this socket, and closes it, including its accept queue, when the last worker has closed its own.
 */
export function watchListeningSocket(): SharedListeningSocket {
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
