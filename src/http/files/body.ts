import type { IncomingMessage } from 'node:http';

/** The bytes of a request as they come. Who stops reading leaves the connection as it is, so that the client can be answered. */
export function bytesOf(request: IncomingMessage): AsyncIterableIterator<Buffer> {
  return request.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>;
}

/** Bytes whose first ones were looked at. */
export interface Peeked {
  /** Empty where there are none. */
  readonly head: Buffer;
  /** All of them. */
  readonly all: AsyncIterableIterator<Buffer>;
}

/** Looks at the first bytes, which are taken from them. @param least how many of them, unless there are fewer */
export async function peek(bytes: AsyncIterableIterator<Buffer>, least: number): Promise<Peeked> {
  const pieces: Buffer[] = [];
  for (let size = 0; size < least; ) {
    const { value, done } = await bytes.next();
    if (done) break;
    pieces.push(value);
    size += value.length;
  }
  const head = Buffer.concat(pieces);
  return { head, all: behind(head, bytes) };
}

async function* behind(head: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  if (head.length > 0) yield head;
  yield* rest;
}

/** Bytes that are counted while they are read. */
export class CountedBytes {
  readonly #bytes: AsyncIterable<Buffer>;
  /** So far. */
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

/** Reads on to the end of a body, whose bytes are dropped, or until it has more than so many. @returns whether it has */
export async function isLonger(request: IncomingMessage, most: number): Promise<boolean> {
  let size = 0;
  if (request.readableEnded) return false;
  for await (const piece of bytesOf(request)) {
    size += piece.length;
    if (size > most) return true;
  }
  return false;
}

const OPEN_BRACE = 123;
const blank = new Set([9, 10, 13, 32, 0xef, 0xbb, 0xbf]);

/** Whether a body that begins so may be a JSON object: an opening brace, and before it nothing but spaces and a byte order mark. */
export function beginsAsObject(head: Buffer): boolean {
  return head.find((byte) => !blank.has(byte)) === OPEN_BRACE;
}

/** Whether the client broke its body off. */
export function hasLeft(request: IncomingMessage): boolean {
  return request.destroyed && !request.complete;
}
