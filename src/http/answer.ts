import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { ServiceError } from '../errors/fail.ts';
import { renderError } from '../errors/render.ts';
import type { Edge } from './edge.ts';
import type { ApiReply } from './endpoint.ts';

/** The Content-Type of every answer. */
export const jsonType = 'application/json; charset=utf-8';

/** Sends an endpoint's reply. Long ones are made while they are sent, no faster than the client reads. */
export function sendReply(edge: Edge, reply: FastifyReply, { status, json, headers }: ApiReply): void {
  reply.code(status).header('content-type', jsonType);
  if (headers) {
    for (const name of Object.keys(headers)) {
      const value = headers[name] as string;
      reply.header(name, name === 'location' && value.startsWith('/') ? edge.baseUrl() + value : value);
    }
  }
  reply.send(typeof json === 'string' ? json : Readable.from(json));
}

/** Sends an error; faults of ours are logged and not shown (SPEC "Errors": 500). */
export function sendError(edge: Edge, reply: FastifyReply, error: unknown): void {
  if (!(error instanceof ServiceError)) edge.log.error({ err: error, request: reply.request.id }, 'a request failed');
  const { status, json } = renderError(error);
  reply.code(status).header('content-type', jsonType).send(json);
}
