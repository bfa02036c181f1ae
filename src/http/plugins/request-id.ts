import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';

/** Carries a request's id, in both directions. */
export const requestIdHeader = 'x-request-id';

/** Tells the processes behind a balancer, and the starts of one, apart. */
const start = randomBytes(6).toString('hex');
const plain = /^[\w-]{6,64}$/;
let count = 0;

/** The id of a request: the client's own where that is short and plain, else a new one. */
export function requestId(request: Pick<IncomingMessage, 'headers'>): string {
  const sent = request.headers[requestIdHeader];
  return typeof sent === 'string' && plain.test(sent) ? sent : newRequestId();
}

/** An id that no other request of any process has. */
export function newRequestId(): string {
  return `${start}-${(count++).toString(36)}`;
}

/** CONTRACT "Requests": every answer carries its request's id. */
export function registerRequestId(server: FastifyInstance): void {
  server.addHook('onRequest', (request, reply, done) => {
    reply.header(requestIdHeader, request.id);
    done();
  });
}
