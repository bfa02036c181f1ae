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
