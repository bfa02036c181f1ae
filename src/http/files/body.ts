import type { IncomingMessage } from 'node:http';

/** Iterates over the bytes of a request. Stopping early leaves the connection open, so that the client can still be answered. */
export function bytesOf(request: IncomingMessage): AsyncIterableIterator<Buffer> {
  return request.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>;
}

/** A stream whose first bytes have been read. */
export interface PeekedBytes {
  /** The first bytes; empty if the stream is empty. */
  readonly head: Buffer;
  /** The whole stream, including `head`. */
  readonly all: AsyncIterableIterator<Buffer>;
}

/** Reads the first bytes of a stream without losing them. @param min how many bytes to read, unless the stream is shorter */
export async function peek(bytes: AsyncIterableIterator<Buffer>, min: number): Promise<PeekedBytes> {
  const pieces: Buffer[] = [];
  for (let size = 0; size < min; ) {
    const { value, done } = await bytes.next();
    if (done) break;
    pieces.push(value);
    size += value.length;
  }
  const head = Buffer.concat(pieces);
  return { head, all: prepend(head, bytes) };
}

async function* prepend(head: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  if (head.length > 0) yield head;
  yield* rest;
}

/** A stream that counts its bytes. */
export class CountedBytes {
  readonly #bytes: AsyncIterable<Buffer>;
  /** Bytes read so far. */
  size = 0;

  constructor(bytes: AsyncIterable<Buffer>) {
    this.#bytes = bytes;
  }

  async *[Symbol.asyncIterator](): AsyncIterator<Buffer> {
    for await (const piece of this.#bytes) {
      this.size += piece.length;
      yield piece;
    }
  }
}

/** Reads and discards a body until its end or until it exceeds a size. @returns whether it exceeds `max` bytes */
export async function isLonger(request: IncomingMessage, max: number): Promise<boolean> {
  let size = 0;
  if (request.readableEnded) return false;
  for await (const piece of bytesOf(request)) {
    size += piece.length;
    if (size > max) return true;
  }
  return false;
}

const OPEN_BRACE = 123;
const blank = new Set([9, 10, 13, 32, 0xef, 0xbb, 0xbf]);

/** Whether a body may be a JSON object, judged by its head: an opening brace, preceded only by white space or a byte order mark. */
export function beginsAsObject(head: Buffer): boolean {
  return head.find((byte) => !blank.has(byte)) === OPEN_BRACE;
}

/** Whether the client disconnected before the end of its body. */
export function hasLeft(request: IncomingMessage): boolean {
  return request.destroyed && !request.complete;
}
