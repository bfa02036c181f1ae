import type { OutgoingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../errors/fail.ts';
import { renderError, retryAfterOf } from '../../errors/render.ts';
import { faultPlace } from '../../observe/index.ts';
import { presentVersionOf } from '../../records/index.ts';
import type { FindResult } from '../../storage/port.ts';
import { pageHeaders, tooLargePage } from '../pages/page.ts';
import type { ApiReply } from './endpoint.ts';
import { entityTag } from './entity-tag.ts';
import { FramedPieces } from './framed-pieces.ts';
import type { HttpServices } from './services.ts';

/** The Content-Type of JSON answers. */
export const jsonType = 'application/json; charset=utf-8';

/**
 * Default for answers without a `cache-control` of their own. Shared caches do not recognise our credential headers and would serve one caller's
 * answer to others at the same URL. Reference: requests.md#caching.
 */
const defaultCacheControl = 'private, no-cache';

/** Sends an endpoint's reply. Long ones are streamed, no faster than the client reads. */
export function sendReply(services: HttpServices, reply: FastifyReply, { status, json, gzip, headers }: ApiReply): void {
  reply.code(status).header('content-type', jsonType).header('cache-control', defaultCacheControl);
  if (headers) {
    for (const name of Object.keys(headers)) {
      const value = headers[name] as string;
      reply.header(name, name === 'location' && value.startsWith('/') ? services.addresses.base + value : value);
    }
  }
  // The answer to the deletion of a file is empty and has no content type (files.md#delete-a-file).
  if (json === '') reply.removeHeader('content-type').send();
  else if (gzip) {
    varyBy(reply, 'accept-encoding');
    reply.header('content-encoding', 'gzip').send(gzip);
  } else reply.send(typeof json === 'string' ? json : piecesOf(services, json));
}

/** Whether a client takes gzip: it is named without a weight of 0. */
export const acceptsGzip = ({ headers }: Pick<FastifyRequest, 'headers'>): boolean =>
  /(?:^|[\s,])(?:x-)?gzip\s*(?:$|,|;(?!\s*q=0(?:\.0*)?\s*(?:$|,)))/i.test(String(headers['accept-encoding'] ?? ''));

/** Streams pieces. If they end in an error, the connection is cut, so that the client cannot mistake a partial answer for a complete one. */
function piecesOf({ conditions }: Pick<HttpServices, 'conditions'>, pieces: AsyncIterable<string>): Readable {
  return Readable.from(pieces).on('error', (error) => {
    // Raised for a compressed answer when its client disconnects.
    if ((error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE') return;
    if (!(error instanceof ServiceError)) conditions.met('an answer broke off', faultPlace(error), error);
  });
}

/** Sends an error. Unexpected faults are logged and answered with a generic 500. Reference: errors.md#form-of-an-error. */
export function sendError(services: ErrorServices, reply: FastifyReply, error: unknown): void {
  logFault(services, reply, error);
  const { status, json } = renderError(error);
  if (!reply.hasHeader('cache-control')) reply.header('cache-control', defaultCacheControl);
  reply.code(status).header('content-type', jsonType).send(json);
}

/** Like `sendError`, while the client may still be sending its body. A file that is too large (413) is answered with an HTML page. */
export function refuseEarly(services: ErrorServices, reply: FastifyReply, error: unknown): void {
  if (error instanceof ServiceError && error.key === 'bodyTooSlow') {
    // Do not wait for the rest of the body.
    reply.header('connection', 'close');
    sendError(services, reply, error);
    return;
  }
  logFault(services, reply, error);
  const { status, json } = renderError(error);
  const isPage = error instanceof ServiceError && error.key === 'fileTooLarge';
  const shown = isPage ? { headers: pageHeaders, text: tooLargePage } : { headers: { 'content-type': jsonType }, text: json };
  answerEarly(reply, { status, ...shown });
}

type ErrorServices = Pick<HttpServices, 'log' | 'conditions'>;

/** Sets the headers that an error has, and logs a fault. */
function logFault({ log, conditions }: ErrorServices, reply: FastifyReply, error: unknown): void {
  const retryAfter = retryAfterOf(error);
  if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter));
  const present = presentVersionOf(error);
  if (present) reply.header('etag', entityTag(present));
  if (error instanceof ServiceError) return;
  conditions.met('a request failed', faultPlace(error), error);
  log.debug({ err: error, request: reply.request.id }, 'a request failed');
}

/** Adds a request header to `Vary`. */
export function varyBy(reply: FastifyReply, name: string): void {
  const before = reply.getHeader('vary');
  if (before === undefined) reply.header('vary', name);
  else if (!String(before).toLowerCase().split(', ').includes(name.toLowerCase())) reply.header('vary', `${before}, ${name}`);
}

/**
 * Returns `{results, className, count}` around the records, which may be streamed.
 * @param answer.className class of the records, if the client may not know it
 */
export function resultsReply({ results, className, count }: FindResult & { readonly className?: string }): ApiReply {
  const told = className === undefined ? '' : `,"className":${JSON.stringify(className)}`;
  const end = count === undefined ? `${told}}` : `${told},"count":${count}}`;
  const json = typeof results === 'string' ? `{"results":${results}${end}` : new FramedPieces('{"results":', results, end);
  return { status: 200, json };
}

/** Time to read and discard the rest of an unwanted body. */
const DROP_TIMEOUT_MS = 30_000;

/** An answer sent while the client may still be sending its body. */
export interface EarlyAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/**
 * Answers immediately, then reads and discards the rest of the body before closing: closing a socket with unread data would reset the connection and
 * lose the answer.
 */
export function answerEarly(reply: FastifyReply, { status, headers, text }: EarlyAnswer): void {
  const { raw } = reply.request;
  reply.removeHeader('connection');
  reply.code(status).hijack();
  // The client has disconnected.
  if (reply.raw.destroyed) return;
  const before = reply.getHeaders() as OutgoingHttpHeaders;
  reply.raw.writeHead(status, { ...before, ...headers, 'content-length': Buffer.byteLength(text) });
  reply.raw.write(text);
  const end = () => {
    clearTimeout(timer);
    reply.raw.end();
  };
  const timer = setTimeout(() => raw.destroy(), DROP_TIMEOUT_MS);
  // Detach the present reader: it no longer reads and would block the stream.
  raw.unpipe();
  if (raw.readableEnded || raw.destroyed) end();
  else raw.once('end', end).once('close', end).resume();
}
