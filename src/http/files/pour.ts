import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';

/**
 * Writes the bytes of a stream as the body of an answer whose length was announced: as many bytes go out, or the connection is cut, so that
 * the answer after it on the connection is not taken for a part of this one.
 * @param size how many bytes
 * @param begin writes the head; called when there are bytes to follow
 * @returns when all is sent, or the client has left
 * @throws what the stream fails with, and where it has fewer or more bytes; the answer has begun then or not
 */
export async function pour(stream: Readable, response: ServerResponse, size: number, begin: () => void): Promise<void> {
  const poured = Promise.withResolvers<void>();
  let left = size;
  let isOver = false;
  const end = (error?: Error) => {
    if (isOver) return;
    isOver = true;
    stream.destroy();
    if (error === undefined) poured.resolve();
    else {
      if (response.headersSent) response.destroy();
      poured.reject(error);
    }
  };
  const wrong = () =>
    end(new Error(left > 0 ? 'the file has fewer bytes than it should' : 'the file has more bytes than it should'));
  response.once('close', () => end());
  response.on('drain', () => stream.resume());
  // It stays: a stream that is left may fail afterwards.
  stream.on('error', end);
  stream.once('close', () => {
    if (!response.writableEnded) wrong();
  });
  stream.once('end', () => {
    if (isOver) return;
    if (left > 0) return wrong();
    if (!response.headersSent) begin();
    response.end();
  });
  stream.on('data', (chunk: Buffer) => {
    if (isOver) return;
    const isTooMuch = chunk.length > left;
    left -= chunk.length;
    if (isTooMuch) return wrong();
    if (!response.headersSent) begin();
    if (!response.write(chunk)) stream.pause();
  });
  if (response.closed || response.destroyed) end();
  return poured.promise;
}
