import type { IncomingMessage, ServerResponse } from 'node:http';
import { finished } from 'node:stream/promises';
import pLimit from 'p-limit';
import { serviceError } from '../../errors/fail.ts';

/** Bytes of a body that anybody may send: what calls no tool is short. */
export const SHORT_BODY = 1024 * 1024;
/** Bytes of a body that a caller with a good credential may send: a file of 32 MiB in base64, and what is around it. */
export const LONG_BODY = 46 * 1024 * 1024;
/** Bytes after which nothing is read any more: until then a body that is too large is read and dropped, so that its sender gets an answer. */
const DROPPED = 64 * 1024 * 1024;
/** Long bodies that are in memory at once, each several times: as it came, as text, as values. Others wait, unread. */
const AT_ONCE = 3;

const long = pLimit(AT_ONCE);

/**
 * The text of a body.
 * @param response ends the claim to memory that a long body has
 * @param mayBeLong asked once the body turns out longer than `SHORT_BODY`
 * @throws tooLarge (116)
 */
export async function readBody(
  payload: IncomingMessage,
  response: ServerResponse,
  mayBeLong: () => Promise<boolean>,
): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  let bound = SHORT_BODY;
  let isAsked = false;
  for await (const piece of payload as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size > bound && !isAsked) {
      isAsked = true;
      if (await mayBeLong()) {
        await turn(response);
        bound = LONG_BODY;
      }
    }
    if (size <= bound) pieces.push(piece);
    else pieces.length = 0;
    if (size > DROPPED) payload.destroy();
  }
  if (size > bound) throw serviceError('tooLarge');
  const text = Buffer.concat(pieces).toString('utf8');
  // Some clients begin with a byte order mark (RFC 8259, 8.1).
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

/** Waits for a place among the long bodies, which is free again when the answer is out or the client has gone. */
function turn(response: ServerResponse): Promise<void> {
  return new Promise((granted) => {
    void long(() => {
      granted();
      return finished(response).catch(() => {});
    });
  });
}
