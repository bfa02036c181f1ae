import type { IncomingMessage, Server } from 'node:http';
import { HOUR_MS } from '../../kernel/time.ts';
import type { Connections } from './connections.ts';

/** Milliseconds that the body of a request may take from its first byte to its last. */
const BODY_TIMEOUT_MS = 120_000;
/** The longest time that a route may give. */
export const MAX_BODY_TIMEOUT_MS = HOUR_MS;
/** Milliseconds between two looks: a body may take so much longer. */
const CHECK_INTERVAL_MS = 10_000;

const times = new WeakMap<IncomingMessage, number>();

/** Gives a request more time for its body than others have. @param time milliseconds, `MAX_BODY_TIMEOUT_MS` at most */
export function allowBodyTime(request: IncomingMessage, time: number): void {
  times.set(request, time);
}

/**
 * Cuts off requests whose body does not end in time. Node has one bound for all requests, and uploads need a longer one than a client
 * that holds a connection should have. It costs a look at each connection now and then, and a request nothing.
 */
export class BodyTimeouts {
  readonly #server: Server;
  readonly #connections: Connections;
  readonly #usual: number;
  readonly #interval: number;
  readonly #timer: NodeJS.Timeout;
  /** When requests were first seen that are not whole, by `performance.now()`. */
  readonly #seen = new WeakMap<IncomingMessage, number>();
  readonly #refused = new WeakSet<IncomingMessage>();

  constructor(server: Server, connections: Connections, usual = BODY_TIMEOUT_MS, interval = CHECK_INTERVAL_MS) {
    this.#server = server;
    this.#connections = connections;
    this.#usual = usual;
    this.#interval = interval;
    this.#timer = setInterval(() => this.#look(), interval);
    this.#timer.unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const now = performance.now();
    for (const [connection, request] of this.#connections.arriving()) {
      const since = this.#seen.get(request);
      if (since === undefined) this.#seen.set(request, now);
      // We read no more for now: that time is ours.
      else if (request.readableLength >= request.readableHighWaterMark) this.#seen.set(request, since + this.#interval);
      else if (now - since > (times.get(request) ?? this.#usual)) {
        // Who neither ends the body nor takes the answer and leaves has no more claim to the connection.
        if (this.#refused.has(request)) connection.destroy();
        else this.#server.emit('clientError', timeout(), connection);
        this.#refused.add(request);
      }
    }
  }
}

/** As Node itself tells of a request that took too long. */
function timeout(): Error {
  return Object.assign(new Error('The body took too long.'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
}
