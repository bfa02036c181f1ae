import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError, serviceError } from '../../errors/fail.ts';
import { renderError } from '../../errors/render.ts';
import { isAnswering } from '../connections/connections.ts';
import { jsonType, refuseEarly, sendError } from '../endpoint/answer.ts';
import { refuseUnasked } from '../endpoint/log-rejected.ts';
import type { HttpServices } from '../endpoint/services.ts';
import { isOfConsole, newRequestId, requestIdHeader } from './headers.ts';

/** Answers for errors that are raised before an endpoint is asked, and for paths that have none. */
export function registerErrors(server: FastifyInstance, services: HttpServices): void {
  server.setErrorHandler((error, request, reply) => {
    const shown = translate(error);
    refuseUnasked(services, request, reply, () => {
      if (shown instanceof ServiceError && shown.key === 'tooLarge') refuseEarly(services, reply, shown);
      else sendError(services, reply, shown);
    });
  });
  server.setNotFoundHandler((request, reply) => {
    refuseUnasked(services, request, reply, () => sendError(services, reply, serviceError('notFound')));
  });
}

/** The catalogue's entry for an error of the framework; anything else as it is. */
export function translate(error: unknown): unknown {
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown };
  if (error instanceof ServiceError) return error;
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return serviceError('tooLarge');
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500)
    return serviceError('invalidJson', 'the body cannot be read');
  return error;
}

/** An address that cannot be decoded. Hooks do not run for it. */
export function answerBadAddress(_error: Error, request: FastifyRequest, reply: FastifyReply): void {
  const { origin } = request.headers;
  if (origin && !isOfConsole(request.url)) reply.header('access-control-allow-origin', origin).header('vary', 'Origin');
  reply.header(requestIdHeader, request.id).header('content-type', jsonType).code(400);
  reply.send(renderError(serviceError('badAddress')).json);
}

const statusOf: ReadonlyMap<unknown, string> = new Map([
  ['HPE_HEADER_OVERFLOW', '431 Request Header Fields Too Large'],
  ['ERR_HTTP_REQUEST_TIMEOUT', '408 Request Timeout'],
]);

/** Something that is no HTTP request: answered by hand, since there is no request object. */
export function answerBadRequest(error: Error & { code?: unknown }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  // An answer that has begun cannot be mended.
  if (!socket.writable || isAnswering(socket)) {
    socket.destroy();
    return;
  }
  const { json } = renderError(serviceError('badRequest'));
  const head = [
    `HTTP/1.1 ${statusOf.get(error.code) ?? '400 Bad Request'}`,
    `X-Request-Id: ${newRequestId()}`,
    `Content-Type: ${jsonType}`,
    `Content-Length: ${Buffer.byteLength(json)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${json}`);
}
