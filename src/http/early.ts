import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';

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
  // Whoever read it reads no more, and would hold it up.
  raw.unpipe();
  if (raw.readableEnded || raw.destroyed) end();
  else raw.once('end', end).once('close', end).resume();
}
