import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger, Observations } from '../../observe/index.ts';

/** Status of a request whose client left before its answer began. nginx logs the same number. */
const CLIENT_LEFT = 499;

/**
 * Observes every request of every part of the service when its answer is complete, or its client has left. Registered before all other hooks: some of
 * them answer. The framework's `onResponse` would miss clients that leave. Reference: metrics.md#requests.
 */
export function registerObservedRequests(server: FastifyInstance, observations: Observations): void {
  if (!observations.isObserved('request')) return;
  server.addHook('onRequest', (request, reply, done) => {
    const began = performance.now();
    reply.raw.once('close', () => observe(observations, request, reply, began));
    done();
  });
}

/** Observes a request for which the framework runs no hooks: its address cannot be decoded. */
export function observeBadAddress(observations: Observations, request: FastifyRequest, reply: FastifyReply): void {
  if (!observations.isObserved('request')) return;
  const began = performance.now();
  reply.raw.once('close', () => observe(observations, request, reply, began));
}

/** Observes bytes that are no HTTP request. @param status of the answer */
export function observeBadRequest(observations: Observations, status: number): void {
  observations.observe({ kind: 'request', route: undefined, method: '', status, ms: 0, requestId: '' });
}

function observe(observations: Observations, request: FastifyRequest, { raw }: FastifyReply, began: number): void {
  observations.observe({
    kind: 'request',
    route: request.is404 ? undefined : request.routeOptions.url,
    method: request.method,
    status: raw.headersSent ? raw.statusCode : CLIENT_LEFT,
    ms: performance.now() - began,
    requestId: request.id,
  });
}

/** Logs each request at level debug. Logs the route's pattern, not the path, which may contain secrets that a client put there. */
export function logRequests(observations: Observations, log: Logger): void {
  if (!log.isLevelEnabled('debug')) return;
  observations.subscribe(['request'], ({ requestId, method, route, status, ms }) => {
    log.debug({ request: requestId, method, route, status, ms: Math.round(ms) }, 'request');
  });
}
