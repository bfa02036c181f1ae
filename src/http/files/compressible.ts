import { once } from 'node:events';
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { PresentFile } from '../../files/index.ts';
import { MAX_PLAIN_BYTES } from '../plugins/compression.ts';

/** Text in any form; what is compressed already (pictures, archives, office documents) gains nothing. */
const compressible = /^text\/|(?:\+|\/)(?:json|xml|javascript)(?:;|$)/;

/** Whether a whole file goes out compressed where the client takes that (CONTRACT "Operations"). @param file its type as it is served */
export function isCompressible({ contentType, size }: Pick<PresentFile, 'contentType' | 'size'>): boolean {
  return size > MAX_PLAIN_BYTES && compressible.test(contentType);
}

/** The validator of a file's bytes in whatever encoding: a weak one (RFC 9110, 8.8.3.3). */
export const weakly = (etag: string): string => `W/${etag}`;

/**
 * Sends a whole file through the server's compression (plugins/compression.ts).
 * @param stream is destroyed at the end
 * @param size bytes of the file; an answer with another number of them is cut off
 * @returns when it is sent or the client has left
 */
export async function sendCompressible(reply: FastifyReply, stream: Readable, size: number): Promise<void> {
  if (reply.raw.destroyed || reply.raw.closed) {
    stream.destroy();
    return;
  }
  const closed = once(reply.raw, 'close');
  reply.send(Readable.from(counted(stream, size), { objectMode: false }));
  await closed;
}

async function* counted(stream: Readable, size: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      yield chunk;
    }
    if (bytes !== size) throw new Error(`the file has ${bytes} bytes, not ${size}`);
  } finally {
    stream.destroy();
  }
}
