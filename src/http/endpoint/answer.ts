import type { OutgoingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { ServiceError } from '../../errors/fail.ts';
import { renderError, retryAfterOf } from '../../errors/render.ts';
import { faultPlace } from '../../observe/index.ts';
import type { FindResult } from '../../storage/port.ts';
import { pageHeaders, tooLargePage } from '../pages/page.ts';
import type { ApiReply } from './endpoint.ts';
import type { HttpServices } from './services.ts';

/** The Content-Type of every answer. */
export const jsonType = 'application/json; charset=utf-8';

/**
 * Of answers that say nothing else. Credentials come in headers that shared caches do not know as such, so that one would keep the answer for
 * others who ask for the same address.
 */
const forItsClient = 'private, no-cache';

/** Sends an endpoint's reply. Long ones are made while they are sent, no faster than the client reads. */
export function sendReply(services: HttpServices, reply: FastifyReply, { status, json, headers }: ApiReply): void {
  reply.code(status).header('content-type', jsonType).header('cache-control', forItsClient);
  if (headers) {
    for (const name of Object.keys(headers)) {
      const value = headers[name] as string;
      reply.header(name, name === 'location' && value.startsWith('/') ? services.addresses.base + value : value);
    }
  }
  // SPEC "Files: Delete" answers nothing at all, which is of no type.
  if (json === '') reply.removeHeader('content-type').send();
  else reply.send(typeof json === 'string' ? json : piecesOf(services, json));
}

/** An answer whose pieces end in an error is cut off, so that nobody takes its beginning for the whole. */
function piecesOf({ conditions }: Pick<HttpServices, 'conditions'>, pieces: AsyncIterable<string>): Readable {
  return Readable.from(pieces).on('error', (error) => {
    // Of an answer that is compressed: its client has left.
    if ((error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE') return;
    if (!(error instanceof ServiceError)) conditions.met('an answer broke off', faultPlace(error), error);
  });
}

/** Sends an error; faults of ours are logged and not shown (SPEC "Errors": 500). */
export function sendError(services: ErrorEdge, reply: FastifyReply, error: unknown): void {
  prepare(services, reply, error);
  const { status, json } = renderError(error);
  if (!reply.hasHeader('cache-control')) reply.header('cache-control', forItsClient);
  reply.code(status).header('content-type', jsonType).send(json);
}

/** The same while the client may still be sending. A file that is too large has a page for an answer (SPEC "Errors": 413). */
export function refuseEarly(services: ErrorEdge, reply: FastifyReply, error: unknown): void {
  if (error instanceof ServiceError && error.key === 'bodyTooSlow') {
    // What is left of the body is not waited for.
    reply.header('connection', 'close');
    sendError(services, reply, error);
    return;
  }
  prepare(services, reply, error);
  const { status, json } = renderError(error);
  const isPage = error instanceof ServiceError && error.key === 'fileTooLarge';
  const shown = isPage ? { headers: pageHeaders, text: tooLargePage } : { headers: { 'content-type': jsonType }, text: json };
  answerEarly(reply, { status, ...shown });
}

type ErrorEdge = Pick<HttpServices, 'log' | 'conditions'>;

/** Tells the log of a fault; says when to come again where that is the trouble. */
function prepare({ log, conditions }: ErrorEdge, reply: FastifyReply, error: unknown): void {
  const retryAfter = retryAfterOf(error);
  if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter));
  if (error instanceof ServiceError) return;
  conditions.met('a request failed', faultPlace(error), error);
  log.debug({ err: error, request: reply.request.id }, 'a request failed');
}

/** Adds a header of requests to those by which the answer is another one. */
export function varyBy(reply: FastifyReply, name: string): void {
  const before = reply.getHeader('vary');
  if (before === undefined) reply.header('vary', name);
  else if (!String(before).toLowerCase().split(', ').includes(name.toLowerCase())) reply.header('vary', `${before}, ${name}`);
}

/**
 * `{results, className, count}` around the records, which may come piece by piece.
 * @param answer.className of the records, where the client may not know it
 */
export function resultsReply({ results, className, count }: FindResult & { readonly className?: string }): ApiReply {
  const told = className === undefined ? '' : `,"className":${JSON.stringify(className)}`;
  const end = count === undefined ? `${told}}` : `${told},"count":${count}}`;
  const json = typeof results === 'string' ? `{"results":${results}${end}` : new FramedPieces('{"results":', results, end);
  return { status: 200, json };
}

/**
 * Pieces with a text before and after them. Unlike a generator it hands `return` on even where nothing was read yet, so that what stands
 * behind the pieces is let go of when the client has left.
 */
export class FramedPieces implements AsyncIterableIterator<string> {
  readonly #pieces: AsyncIterator<string>;
  readonly #suffix: string;
  readonly #ended: () => void;
  #prefix: string;
  #over = false;

  /** @param ended called once, when the pieces have come to their end or are no longer wanted */
  constructor(prefix: string, pieces: AsyncIterable<string>, suffix: string, ended: () => void = () => {}) {
    this.#prefix = prefix;
    this.#pieces = pieces[Symbol.asyncIterator]();
    this.#suffix = suffix;
    this.#ended = ended;
  }

  async next(): Promise<IteratorResult<string>> {
    if (this.#over) return { done: true, value: undefined };
    if (this.#prefix !== '') {
      const value = this.#prefix;
      this.#prefix = '';
      return { done: false, value };
    }
    try {
      const piece = await this.#pieces.next();
      // The client left meanwhile; what was made since is to be let go of too.
      if (this.#over) return await this.#leave();
      if (!piece.done) return piece;
    } catch (error) {
      this.#end();
      throw error;
    }
    this.#end();
    return this.#suffix === '' ? { done: true, value: undefined } : { done: false, value: this.#suffix };
  }

  async return(): Promise<IteratorResult<string>> {
    if (this.#over) return { done: true, value: undefined };
    this.#end();
    return await this.#leave();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #leave(): Promise<IteratorResult<string>> {
    await this.#pieces.return?.();
    return { done: true, value: undefined };
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#ended();
  }
}

/** How long the rest of a body may take that nobody wants, in milliseconds. */
const DROP_TIMEOUT_MS = 30_000;

/** What is answered while the client may still be sending. */
export interface EarlyAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/**
 * Answers at once and closes only when the client has sent its whole body, which is read and dropped: a connection that is closed on
 * unread data takes the answer with it.
 */
export function answerEarly(reply: FastifyReply, { status, headers, text }: EarlyAnswer): void {
  const { raw } = reply.request;
  reply.removeHeader('connection');
  reply.code(status).hijack();
  // The client has left.
  if (reply.raw.destroyed) return;
  const before = reply.getHeaders() as OutgoingHttpHeaders;
  reply.raw.writeHead(status, { ...before, ...headers, 'content-length': Buffer.byteLength(text) });
  reply.raw.write(text);
  const end = () => {
    clearTimeout(timer);
    reply.raw.end();
  };
  const timer = setTimeout(() => raw.destroy(), DROP_TIMEOUT_MS);
  // Its reader reads no more, and would hold it up.
  raw.unpipe();
  if (raw.readableEnded || raw.destroyed) end();
  else raw.once('end', end).once('close', end).resume();
}
