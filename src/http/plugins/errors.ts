import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError, serviceError } from '../../errors/fail.ts';
import { renderError } from '../../errors/render.ts';
import { isAnswering } from '../connections/connections.ts';
import { jsonType, refuseEarly, sendError } from '../endpoint/answer.ts';
import { logAndReject } from '../endpoint/log-rejected.ts';
import type { HttpServices } from '../endpoint/services.ts';
import { isOfConsole, newRequestId, requestIdHeader } from './headers.ts';

/** Answers errors that are raised before an endpoint runs, and unknown paths. */
export function registerErrors(server: FastifyInstance, services: HttpServices): void {
  server.setErrorHandler((error, request, reply) => {
    const clientError = translate(error);
    logAndReject(services, request, reply, () => {
      if (clientError instanceof ServiceError && clientError.key === 'tooLarge') refuseEarly(services, reply, clientError);
      else sendError(services, reply, clientError);
    });
  });
  server.setNotFoundHandler((request, reply) => {
    logAndReject(services, request, reply, () => sendError(services, reply, serviceError('notFound')));
  });
}

/** Returns the catalogue entry for an error of the framework; other errors are returned unchanged. */
export function translate(error: unknown): unknown {
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown };
  if (error instanceof ServiceError) return error;
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return serviceError('tooLarge');
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500)
    return serviceError('invalidJson', 'the body cannot be read');
  return error;
}

/** Answers a URL that cannot be decoded. The framework runs no hooks for it. */
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

/** Answers bytes that are no HTTP request. Written by hand, because there is no request object. @returns the status; `null`: there was no answer */
export function answerBadRequest(error: Error & { code?: unknown }, socket: Socket): number | null {
  if (error.code === 'ECONNRESET' || socket.destroyed) return null;
  // An answer that has begun cannot be replaced.
  if (!socket.writable || isAnswering(socket)) {
    socket.destroy();
    return null;
  }
  const { json } = renderError(serviceError('badRequest'));
  const status = statusOf.get(error.code) ?? '400 Bad Request';
  const head = [
    `HTTP/1.1 ${status}`,
    `X-Request-Id: ${newRequestId()}`,
    `Content-Type: ${jsonType}`,
    `Content-Length: ${Buffer.byteLength(json)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${json}`);
  return Number.parseInt(status, 10);
}
