import type { IncomingMessage, Server } from 'node:http';
import { HOUR_MS } from '../../kernel/time.ts';
import type { Connections } from './connections.ts';

/** Default time limit for a request body, from its first byte to its last. */
export const BODY_TIMEOUT_MS = 120_000;
/** The longest time limit that a route may set. */
export const MAX_BODY_TIMEOUT_MS = HOUR_MS;
/** Interval of the checks; a body may exceed its limit by this much. */
const CHECK_INTERVAL_MS = 10_000;

const timeouts = new WeakMap<IncomingMessage, number>();

/** Sets a longer time limit for the body of a request. @param time milliseconds, at most `MAX_BODY_TIMEOUT_MS` */
export function setBodyTimeout(request: IncomingMessage, time: number): void {
  timeouts.set(request, time);
}

/**
 * Aborts requests whose body does not arrive in time. Node has a single limit for all requests, but uploads need a longer one than other requests
 * should have. A periodic check of all connections costs nothing per request.
 */
export class BodyTimeouts {
  readonly #server: Server;
  readonly #connections: Connections;
  readonly #defaultTimeout: number;
  readonly #interval: number;
  readonly #timer: NodeJS.Timeout;
  /** When an incomplete request was first seen, by `performance.now()`. */
  readonly #firstSeen = new WeakMap<IncomingMessage, number>();
  readonly #refused = new WeakSet<IncomingMessage>();

  constructor(server: Server, connections: Connections, defaultTimeout = BODY_TIMEOUT_MS, interval = CHECK_INTERVAL_MS) {
    this.#server = server;
    this.#connections = connections;
    this.#defaultTimeout = defaultTimeout;
    this.#interval = interval;
    this.#timer = setInterval(() => this.#check(), interval);
    this.#timer.unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #check(): void {
    const now = performance.now();
    for (const [connection, request] of this.#connections.incompleteRequests()) {
      const since = this.#firstSeen.get(request);
      if (since === undefined) this.#firstSeen.set(request, now);
      // We have stopped reading (back-pressure), so this time does not count against the client.
      else if (request.readableLength >= request.readableHighWaterMark) this.#firstSeen.set(request, since + this.#interval);
      else if (now - since > (timeouts.get(request) ?? this.#defaultTimeout)) {
        // The client neither completes the body nor takes the 408 answer.
        if (this.#refused.has(request)) connection.destroy();
        else this.#server.emit('clientError', timeoutError(), connection);
        this.#refused.add(request);
      }
    }
  }
}

/** The error that Node itself emits for a request that took too long. */
function timeoutError(): Error {
  return Object.assign(new Error('The body took too long.'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
}
