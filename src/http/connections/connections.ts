import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { type Socket, Server as SocketServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { closeListener, type ListeningSocket, turns, waitForQuiet } from '../../kernel/listening-socket.ts';
import { listeningHandle, type SocketHandle } from '../../kernel/socket-handle.ts';

/** Polling interval while the server closes. */
const POLL_INTERVAL_MS = 10;
/** Minimum interval between two searches for idle connections while there are too many. */
const SHED_INTERVAL_MS = 100;
/**
 * How long a connection must be idle before shutdown closes it: a request may be on its way. Longer for a connection that has not sent any data yet.
 */
const IDLE_MS = 50;
const NEW_IDLE_MS = 1_000;

/**
 * The connections of a server, for a clean shutdown. Node's own `close` keeps connections that become idle later open as long as their clients like,
 * and cuts off answers that are written but not yet transmitted.
 */
export class Connections {
  readonly #server: Server;
  readonly #open = new Set<Socket>();
  readonly #idleTimes = new IdleTimes();
  readonly #max: number;
  #lastShedAt = Number.NEGATIVE_INFINITY;
  /** Number of connections and requests so far. */
  #arrivals = 0;
  readonly #socket: ServerSocket;

  /** @param max concurrent connections; further ones are closed at once */
  constructor(server: Server, max = Number.POSITIVE_INFINITY) {
    this.#server = server;
    this.#max = max;
    if (Number.isFinite(max)) {
      server.maxConnections = max;
      // In a cluster, each process closes excess connections itself: the others may be full too.
      (server as { dropMaxConnection?: boolean }).dropMaxConnection = true;
    }
    this.#socket = new ServerSocket(server);
    followExchanges(server);
    server.on('connection', (connection: Socket) => {
      this.#arrivals++;
      this.#open.add(connection);
      if (this.#open.size > this.#max - this.#spare) this.#shed();
      connection.once('close', () => this.#open.delete(connection));
    });
    server.on('drop', () => this.#shed());
    server.prependListener('request', () => this.#arrivals++);
  }

  /** Yields the requests whose bodies are still arriving, each with its connection. */
  *incompleteRequests(): IterableIterator<readonly [Socket, IncomingMessage]> {
    for (const connection of this.#open) {
      const request = incompleteRequest(connection);
      if (request) yield [connection, request];
    }
  }

  /** Whether no further request is expected on a connection. */
  #isIdle(connection: Socket, now: number): boolean {
    return this.#idleTimes.since(connection, now) >= (connection.bytesRead === 0 ? NEW_IDLE_MS : IDLE_MS);
  }

  /** Number of connections kept free for new clients by closing idle ones. */
  get #spare(): number {
    return Math.ceil(this.#max / 20);
  }

  /** Closes idle connections, oldest first; a client that needs one can reconnect. */
  #shed(): void {
    const now = performance.now();
    if (now - this.#lastShedAt < SHED_INTERVAL_MS) return;
    this.#lastShedAt = now;
    let left = this.#spare;
    for (const connection of this.#open) {
      if (isBusy(connection) || this.#idleTimes.since(connection, now) < NEW_IDLE_MS) continue;
      connection.destroy();
      if (--left <= 0) return;
    }
  }

  /** Stops accepting connections and resolves when none is left, without closing any; in a cluster, where the primary process accepts them. */
  async retire(): Promise<void> {
    this.#socket.close();
    while (this.#open.size > 0) await wait(POLL_INTERVAL_MS);
  }

  /**
   * Stops accepting connections and closes each one when it is idle. Connections that the kernel has already queued are accepted and served first,
   * for up to some seconds, so that none is reset.
   * @param bound milliseconds after which the remaining connections are destroyed
   */
  async close(bound: number): Promise<void> {
    if (this.#server.listening) {
      await waitForQuiet(() => this.#arrivals);
      await closeListener(this.#socket);
    }
    const deadline = performance.now() + bound;
    while (this.#open.size > 0) {
      const now = performance.now();
      for (const connection of this.#open)
        if (now > deadline || (!isBusy(connection) && this.#isIdle(connection, now))) connection.destroy();
      await wait(POLL_INTERVAL_MS);
      // Let data that has already arrived be read before the next check.
      await turns(2);
    }
  }
}

/** Tracks how long connections have been idle. */
class IdleTimes {
  readonly #seen = new WeakMap<Socket, { readonly bytes: number; readonly since: number }>();

  /** Returns the milliseconds since the connection was first seen with its current number of received bytes. */
  since(connection: Socket, now: number): number {
    const { bytesRead: bytes } = connection;
    const seen = this.#seen.get(connection);
    if (seen?.bytes === bytes) return now - seen.since;
    this.#seen.set(connection, { bytes, since: now });
    return 0;
  }
}

/** The listening socket of a server. */
class ServerSocket implements ListeningSocket {
  accepted = 0;
  readonly #server: Server & { pauseOnConnect?: boolean };
  readonly #paused: Socket[] = [];
  /** The server's `connection` listeners while they are detached. */
  #detachedListeners: ((socket: Socket) => void)[] | undefined;

  constructor(server: Server) {
    this.#server = server;
    server.prependListener('connection', this.#count);
  }

  readonly #count = () => {
    this.accepted++;
  };

  /** In a cluster, the primary process owns the listening socket; then it has no handle here. */
  get handle(): SocketHandle | undefined {
    return listeningHandle(this.#server);
  }

  pause(): void {
    const server = this.#server;
    server.pauseOnConnect = true;
    this.#detachedListeners = server.listeners('connection').filter((listener) => listener !== this.#count) as ((
      socket: Socket,
    ) => void)[];
    for (const listener of this.#detachedListeners) server.off('connection', listener);
    server.on('connection', this.#keep);
  }

  readonly #keep = (socket: Socket) => {
    this.#paused.push(socket);
  };

  resume(): void {
    const server = this.#server;
    server.pauseOnConnect = false;
    server.off('connection', this.#keep);
    server.off('connection', this.#count);
    for (const listener of this.#detachedListeners ?? []) server.on('connection', listener);
    for (const socket of this.#paused.splice(0)) {
      server.emit('connection', socket);
      socket.resume();
    }
  }

  close(): void {
    if (this.#server.listening) SocketServer.prototype.close.call(this.#server);
  }
}

/** Requests in progress on a connection. */
interface Exchanges {
  /** The last request read, until it is complete and answered. */
  request: IncomingMessage | undefined;
  /** Unfinished responses, in the order of their requests. */
  readonly responses: ServerResponse[];
}

const exchangesOf = new WeakMap<Socket, Exchanges>();

/** Tracks the requests in progress on a server's connections by events; Node exposes them only in private fields. */
export function followExchanges(server: Server): void {
  // Prepended, to run before anything is answered.
  server.prependListener('request', (request, response) => {
    const { socket } = request;
    let exchanges = exchangesOf.get(socket);
    if (!exchanges) {
      exchanges = { request, responses: [] };
      exchangesOf.set(socket, exchanges);
    }
    const { responses } = exchanges;
    exchanges.request = request;
    responses.push(response);
    response.on('close', () => {
      const at = responses.indexOf(response);
      if (at >= 0) responses.splice(at, 1);
      if (exchanges.request === request && request.complete) exchanges.request = undefined;
    });
  });
}

/** Whether a request on the connection is not completely answered yet. */
export const isBusy = (connection: Socket): boolean => (exchangesOf.get(connection)?.responses.length ?? 0) > 0;

/** Returns the request that is still arriving on a connection, if any. */
export function incompleteRequest(connection: Socket): IncomingMessage | undefined {
  const request = exchangesOf.get(connection)?.request;
  return request?.complete ? undefined : request;
}

/** Whether the connection's current answer has begun to be sent. */
export function isAnswering(connection: Socket): boolean {
  const [response] = exchangesOf.get(connection)?.responses ?? [];
  return response?.headersSent === true;
}

/**
 * Limits of what a client may pipeline behind an unanswered request: number of requests, and their approximate bytes in memory. A client that exceeds
 * them is disconnected.
 */
export const MAX_PIPELINED_REQUESTS = 100;
export const MAX_PIPELINED_BYTES = 256 * 1024;

/** What is queued on a connection. */
interface Pipelined {
  requests: number;
  length: number;
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Answers pipelined requests of a connection one at a time, each in its own turn of the event loop. A client may send hundreds in one packet; Node
 * would emit all of them at once, so that all answers are in memory together and other clients wait. Call it before other listeners are added to the
 * server's `request` event: those see requests as they are read.
 */
export function serializePipelined(server: Server): void {
  const listeners = server.listeners('request') as Listener[];
  server.removeAllListeners('request');
  const waiting = new WeakMap<Socket, Pipelined>();
  server.on('request', (request, response) => {
    const answer = () => {
      for (const listener of listeners) listener.call(server, request, response);
    };
    // Node assigns the socket to the response that is next on the connection.
    if (response.socket) {
      answer();
      return;
    }
    const { socket } = request;
    const ahead = waiting.get(socket) ?? { requests: 0, length: 0 };
    waiting.set(socket, ahead);
    const length = headLength(request) + bodyLength(request);
    ahead.requests++;
    ahead.length += length;
    if (ahead.requests > MAX_PIPELINED_REQUESTS || ahead.length > MAX_PIPELINED_BYTES) socket.destroy();
    if (socket.destroyed) return;
    response.once('socket', () => {
      ahead.requests--;
      ahead.length -= length;
      setImmediate(() => {
        if (!socket.destroyed) answer();
      });
    });
  });
}

function headLength({ url = '', rawHeaders }: IncomingMessage): number {
  let length = url.length;
  for (const part of rawHeaders) length += part.length;
  return length;
}

/** At most a stream's buffer of the body is read ahead. */
function bodyLength({ headers, readableHighWaterMark }: IncomingMessage): number {
  const length = headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : Number.POSITIVE_INFINITY;
  return Math.min(length, readableHighWaterMark);
}
