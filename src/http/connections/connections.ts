import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { type Socket, Server as SocketServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { closeDoor, type Door, lastCall, turns } from '../../kernel/door.ts';
import { listeningHandle, type SocketHandle } from '../../kernel/socket-handle.ts';

/** Milliseconds between two looks at the connections of an ending server. */
const POLL_INTERVAL_MS = 10;
/** Milliseconds between two looks for idle connections while there are too many. */
const SHED_INTERVAL_MS = 100;
/** Milliseconds that a connection is quiet before it is closed: a request may be on its way. Longer on one that has brought none yet. */
const IDLE_MS = 50;
const NEW_IDLE_MS = 1_000;

/**
 * The connections of a server, so that it can end well. Node's own `close` leaves those that fall idle later open for as long as their
 * clients like, and cuts off answers that are written but not yet handed over.
 */
export class Connections {
  readonly #server: Server;
  readonly #open = new Set<Socket>();
  readonly #quiet = new Quiet();
  readonly #most: number;
  #shedAt = Number.NEGATIVE_INFINITY;
  /** Connections and requests so far. */
  #arrivals = 0;
  readonly #door: ServerDoor;

  /** @param most connections at a time; beyond, new ones are closed at once */
  constructor(server: Server, most = Number.POSITIVE_INFINITY) {
    this.#server = server;
    this.#most = most;
    if (Number.isFinite(most)) {
      server.maxConnections = most;
      // Of several processes each closes them itself: the others may have no room either.
      (server as { dropMaxConnection?: boolean }).dropMaxConnection = true;
    }
    this.#door = new ServerDoor(server);
    followExchanges(server);
    server.on('connection', (connection: Socket) => {
      this.#arrivals++;
      this.#open.add(connection);
      if (this.#open.size > this.#most - this.#spare) this.#shed();
      connection.once('close', () => this.#open.delete(connection));
    });
    server.on('drop', () => this.#shed());
    server.prependListener('request', () => this.#arrivals++);
  }

  /** The requests that have begun to arrive and are not whole, each with its connection. */
  *arriving(): IterableIterator<readonly [Socket, IncomingMessage]> {
    for (const connection of this.#open) {
      const request = arrivingRequest(connection);
      if (request) yield [connection, request];
    }
  }

  /** Whether no request is to be expected on a connection any more. */
  #isIdle(connection: Socket, now: number): boolean {
    return this.#quiet.since(connection, now) >= (connection.bytesRead === 0 ? NEW_IDLE_MS : IDLE_MS);
  }

  /** Room that is kept for new connections where others are idle. */
  get #spare(): number {
    return Math.ceil(this.#most / 20);
  }

  /** Closes idle connections, those that were made first before others: who needs one makes another. */
  #shed(): void {
    const now = performance.now();
    if (now - this.#shedAt < SHED_INTERVAL_MS) return;
    this.#shedAt = now;
    let left = this.#spare;
    for (const connection of this.#open) {
      if (isBusy(connection) || this.#quiet.since(connection, now) < NEW_IDLE_MS) continue;
      connection.destroy();
      if (--left <= 0) return;
    }
  }

  /**
   * Takes no more connections and closes each when nothing is under way on it. None that it could serve is reset: those that wait to be
   * accepted are, first, for as long as they come, up to some seconds.
   * @param bound milliseconds after which those that are left are cut off
   */
  async close(bound: number): Promise<void> {
    if (!this.#server.listening) return;
    await lastCall(() => this.#arrivals);
    await closeDoor(this.#door);
    const deadline = performance.now() + bound;
    while (this.#open.size > 0) {
      const now = performance.now();
      for (const connection of this.#open)
        if (now > deadline || (!isBusy(connection) && this.#isIdle(connection, now))) connection.destroy();
      await wait(POLL_INTERVAL_MS);
      // What has come by now is read before connections are looked at.
      await turns(2);
    }
  }
}

/** How long connections have been quiet. */
class Quiet {
  readonly #seen = new WeakMap<Socket, { readonly bytes: number; readonly since: number }>();

  /** Milliseconds since it was first seen with what it has brought by now. */
  since(connection: Socket, now: number): number {
    const { bytesRead: bytes } = connection;
    const seen = this.#seen.get(connection);
    if (seen?.bytes === bytes) return now - seen.since;
    this.#seen.set(connection, { bytes, since: now });
    return 0;
  }
}

/** The socket of a server. */
class ServerDoor implements Door {
  accepted = 0;
  readonly #server: Server & { pauseOnConnect?: boolean };
  readonly #parked: Socket[] = [];
  /** Who is told of connections, unless they are parked. */
  #told: ((socket: Socket) => void)[] | undefined;

  constructor(server: Server) {
    this.#server = server;
    server.prependListener('connection', this.#count);
  }

  readonly #count = () => {
    this.accepted++;
  };

  /** Where the processes of a service share the socket, it is the one that started them who listens. */
  get handle(): SocketHandle | undefined {
    return listeningHandle(this.#server);
  }

  park(): void {
    const server = this.#server;
    server.pauseOnConnect = true;
    this.#told = server.listeners('connection').filter((listener) => listener !== this.#count) as ((socket: Socket) => void)[];
    for (const listener of this.#told) server.off('connection', listener);
    server.on('connection', this.#keep);
  }

  readonly #keep = (socket: Socket) => {
    this.#parked.push(socket);
  };

  unpark(): void {
    const server = this.#server;
    server.pauseOnConnect = false;
    server.off('connection', this.#keep);
    server.off('connection', this.#count);
    for (const listener of this.#told ?? []) server.on('connection', listener);
    for (const socket of this.#parked.splice(0)) {
      server.emit('connection', socket);
      socket.resume();
    }
  }

  close(): void {
    if (this.#server.listening) SocketServer.prototype.close.call(this.#server);
  }
}

/** What is under way on a connection. */
interface Exchanges {
  /** The request that was read last, until it is whole and answered. */
  request: IncomingMessage | undefined;
  /** Of requests that are not answered to their end, in the order of these. */
  readonly responses: ServerResponse[];
}

const exchangesOf = new WeakMap<Socket, Exchanges>();

/** Follows what is under way on the connections of a server, by its events: Node tells it of its sockets in private fields only. */
export function followExchanges(server: Server): void {
  // Before anything is answered.
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

/** Whether a request of a connection is yet to be answered to its end. */
export const isBusy = (connection: Socket): boolean => (exchangesOf.get(connection)?.responses.length ?? 0) > 0;

/** The request that has begun to arrive on a connection and is not whole. */
export function arrivingRequest(connection: Socket): IncomingMessage | undefined {
  const request = exchangesOf.get(connection)?.request;
  return request?.complete ? undefined : request;
}

/** Whether the answer that a connection is busy with has begun to leave. */
export function isAnswering(connection: Socket): boolean {
  const [response] = exchangesOf.get(connection)?.responses ?? [];
  return response?.headersSent === true;
}

/** Requests of a connection that wait for the one before, and bytes of them that are read meanwhile, about; who sends more ahead than that loses the connection. */
const MAX_REQUESTS_AHEAD = 100;
const MAX_LENGTH_AHEAD = 256 * 1024;

/** What waits on a connection. */
interface Ahead {
  requests: number;
  length: number;
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Has the requests of a connection answered one at a time, each in a turn of the event loop of its own. A client may send hundreds ahead in
 * one packet: Node asks for all of them at once, so that their answers are in memory together and nobody else is answered meanwhile.
 *
 * To be called before others listen to the server's requests: theirs come as they are read.
 */
export function serializePipelined(server: Server): void {
  const listeners = server.listeners('request') as Listener[];
  server.removeAllListeners('request');
  const waiting = new WeakMap<Socket, Ahead>();
  server.on('request', (request, response) => {
    const answer = () => {
      for (const listener of listeners) listener.call(server, request, response);
    };
    // Node gives the connection to the answer that is next on it.
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
    if (ahead.requests > MAX_REQUESTS_AHEAD || ahead.length > MAX_LENGTH_AHEAD) socket.destroy();
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

/** Of a body as much is read as a stream holds. */
function bodyLength({ headers, readableHighWaterMark }: IncomingMessage): number {
  const length = headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : Number.POSITIVE_INFINITY;
  return Math.min(length, readableHighWaterMark);
}
