import type { IncomingMessage } from 'node:http';

/** The bytes of a request as they come. Who stops reading leaves the connection as it is, so that the client can be answered. */
export function bytesOf(request: IncomingMessage): AsyncIterableIterator<Buffer> {
  return request.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>;
}

/** Bytes whose first piece was looked at. */
export interface Peeked {
  /** `undefined` where there are none. */
  readonly first: Buffer | undefined;
  /** All of them. */
  readonly all: AsyncIterable<Buffer>;
}

/** Looks at the first piece of some bytes, which is taken from them. */
export async function peek(bytes: AsyncIterableIterator<Buffer>): Promise<Peeked> {
  const { value: first, done } = await bytes.next();
  if (done) return { first: undefined, all: bytes };
  return { first, all: behind(first, bytes) };
}

async function* behind(first: Buffer, rest: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  yield first;
  yield* rest;
}

const OPEN_BRACE = 123;
const blank = new Set([9, 10, 13, 32, 0xef, 0xbb, 0xbf]);

/** Whether a body that begins so may be a JSON object: an opening brace, and before it nothing but spaces and a byte order mark. */
export function beginsAsObject(first: Buffer | undefined): boolean {
  return first?.find((byte) => !blank.has(byte)) === OPEN_BRACE;
}

/** Whether the client broke its body off. */
export function hasLeft(request: IncomingMessage): boolean {
  return request.destroyed && !request.complete;
}
