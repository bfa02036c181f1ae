import { once } from 'node:events';
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { PresentFile } from '../../files/index.ts';
import { MAX_PLAIN_BYTES } from '../plugins/compression.ts';

/** Text in any form. Formats that are compressed already (pictures, archives, office documents) would gain nothing. */
const compressible = /^text\/|(?:\+|\/)(?:json|xml|javascript)(?:;|$)/;

/** Whether a whole file is sent compressed if the client accepts it. Reference: requests.md#compression. @param file its type as served */
export function isCompressible({ contentType, size }: Pick<PresentFile, 'contentType' | 'size'>): boolean {
  return size > MAX_PLAIN_BYTES && compressible.test(contentType);
}

/** Returns the weak validator of a file, which holds for its bytes in any encoding (RFC 9110, 8.8.3.3). */
export const weakTag = (etag: string): string => `W/${etag}`;

/**
 * Sends a whole file through the server's compression (plugins/compression.ts).
 * @param stream destroyed at the end
 * @param size bytes of the file; the answer is cut off if the stream has a different number
 * @returns when the file is sent or the client has disconnected
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
