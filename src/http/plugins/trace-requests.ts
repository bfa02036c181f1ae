import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type RequestSpan, tracerInUse } from '../../observe/index.ts';

/** Probes come every second and say nothing. */
const untraced = /^\/(?:health|metrics)/;

/** Makes a span of each request, if traces are on. Registered before all other hooks. Reference: operations.md#traces. */
export function registerTracedRequests(server: FastifyInstance): void {
  const tracer = tracerInUse();
  if (!tracer) return;
  const spans = new WeakMap<FastifyRequest, RequestSpan>();
  server.addHook('onRequest', (request, reply, done) => {
    if (untraced.test(request.url)) {
      done();
      return;
    }
    const span = tracer.request(request.headers);
    spans.set(request, span);
    reply.raw.once('close', () => endSpan(span, request, reply));
    span.run(done);
  });
  // A body arrives in the asynchronous context of its connection.
  server.addHook('preValidation', (request, _reply, done) => {
    const span = spans.get(request);
    if (span) span.run(done);
    else done();
  });
}

function endSpan(span: RequestSpan, request: FastifyRequest, { raw }: FastifyReply): void {
  const route = request.is404 ? undefined : request.routeOptions.url;
  const status = raw.headersSent ? raw.statusCode : undefined;
  const attributes = {
    'http.request.method': request.method,
    ...(route !== undefined && { 'http.route': route }),
    ...(status !== undefined && { 'http.response.status_code': status }),
  };
  span.end(
    route === undefined ? request.method : `${request.method} ${route}`,
    attributes,
    status === undefined || status >= 500,
  );
}
