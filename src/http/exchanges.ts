import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What is under way on a connection. */
interface Exchanges {
  /** The request that was read last, until it is whole and answered. */
  request: IncomingMessage | undefined;
  /** Of requests that are not answered to their end, in the order of these. */
  readonly responses: Set<ServerResponse>;
}

const exchangesOf = new WeakMap<Socket, Exchanges>();

/** Follows what is under way on the connections of a server, by its events: Node tells it of its sockets in private fields only. */
export function followExchanges(server: Server): void {
  // Before anything is answered.
  server.prependListener('request', (request, response) => {
    const { socket } = request;
    const exchanges = exchangesOf.get(socket) ?? { request, responses: new Set() };
    exchangesOf.set(socket, exchanges);
    exchanges.request = request;
    exchanges.responses.add(response);
    response.once('close', () => {
      exchanges.responses.delete(response);
      if (exchanges.request === request && request.complete) exchanges.request = undefined;
    });
  });
}

/** Whether a request of a connection is yet to be answered to its end. */
export const isBusy = (connection: Socket): boolean => (exchangesOf.get(connection)?.responses.size ?? 0) > 0;

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
