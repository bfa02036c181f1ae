import type { IncomingMessage, Server } from 'node:http';
import { type Socket, Server as SocketServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { closeDoor, type Door, lastCall, turns } from '../kernel/door.ts';

/** Milliseconds between two looks at the connections of an ending server. */
const INTERVAL = 10;
/** Milliseconds that a connection is quiet before it is closed: a request may be on its way. Longer on one that has brought none yet. */
const IDLE = 50;
const NEW_IDLE = 1_000;

/** A connection of an HTTP server, with the answer that it is busy with and the request that was last read from it. */
export type Connection = Socket & {
  _httpMessage?: { readonly headersSent: boolean } | null;
  parser?: { readonly incoming?: IncomingMessage | null } | null;
};

/**
 * The connections of a server, so that it can end well. Node's own `close` leaves those that fall idle later open for as long as their
 * clients like, and cuts off answers that are written but not yet handed over.
 */
export class Connections {
  readonly #server: Server;
  readonly #open = new Set<Connection>();
  /** Connections and requests so far. */
  #arrivals = 0;
  readonly #door: ServerDoor;

  constructor(server: Server) {
    this.#server = server;
    this.#door = new ServerDoor(server);
    server.on('connection', (connection: Connection) => {
      this.#arrivals++;
      this.#open.add(connection);
      connection.once('close', () => this.#open.delete(connection));
    });
    server.on('request', () => this.#arrivals++);
  }

  /** The requests that have begun to arrive and are not whole, each with its connection. */
  *arriving(): IterableIterator<readonly [Connection, IncomingMessage]> {
    for (const connection of this.#open) {
      const request = connection.parser?.incoming;
      if (request && !request.complete) yield [connection, request];
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
    const quiet = new Quiet();
    while (this.#open.size > 0) {
      const now = performance.now();
      for (const connection of this.#open)
        if (now > deadline || (!connection._httpMessage && quiet.isLong(connection, now))) connection.destroy();
      await wait(INTERVAL);
      // What has come by now is read before connections are looked at.
      await turns(2);
    }
  }
}

/** How long connections have been quiet. */
class Quiet {
  readonly #seen = new WeakMap<Connection, { readonly bytes: number; readonly since: number }>();

  isLong(connection: Connection, now: number): boolean {
    const { bytesRead: bytes } = connection;
    const seen = this.#seen.get(connection);
    if (seen?.bytes === bytes) return now - seen.since >= (bytes === 0 ? NEW_IDLE : IDLE);
    this.#seen.set(connection, { bytes, since: now });
    return false;
  }
}

/** The socket of a server. */
class ServerDoor implements Door {
  accepted = 0;
  onNext: (() => void) | undefined;
  readonly #server: Server;

  constructor(server: Server) {
    this.#server = server;
    server.prependListener('connection', () => {
      this.accepted++;
      this.onNext?.();
    });
  }

  /** Where the processes of a service share the socket, it is the one that started them who does. */
  holdBack(): void {
    const { _handle: handle } = this.#server as { readonly _handle?: { listen?(backlog: number): number } | null };
    handle?.listen?.(0);
  }

  close(): void {
    if (this.#server.listening) SocketServer.prototype.close.call(this.#server);
  }
}
