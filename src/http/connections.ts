import type { IncomingMessage, Server } from 'node:http';
import { type Socket, Server as SocketServer } from 'node:net';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';

/** Milliseconds without anything new after which all that was on its way to an ending server has come, and how long to wait for them. */
const QUIET = 50;
const QUIET_BOUND = 2_000;
/** Milliseconds between two looks at the connections of an ending server. */
const INTERVAL = 10;

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

  constructor(server: Server) {
    this.#server = server;
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
   * Takes no more connections and closes each when nothing is under way on it.
   * @param bound milliseconds after which those that are left are cut off
   */
  async close(bound: number): Promise<void> {
    if (!this.#server.listening) return;
    await this.#lastCall();
    SocketServer.prototype.close.call(this.#server);
    const deadline = performance.now() + bound;
    while (this.#open.size > 0) {
      const late = performance.now() > deadline;
      for (const connection of this.#open) if (late || !connection._httpMessage) connection.destroy();
      await wait(INTERVAL);
    }
  }

  /** A connection that is closed with a request on it that was not read yet looks like a broken one to its client. */
  async #lastCall(): Promise<void> {
    const deadline = performance.now() + QUIET_BOUND;
    let seen: number;
    do {
      seen = this.#arrivals;
      await wait(QUIET);
      // Timers come before sockets: after a long turn of the event loop it takes one more to read them.
      for (let turn = 0; turn < 2; turn++) await nextTurn();
    } while (seen !== this.#arrivals && performance.now() < deadline);
  }
}
