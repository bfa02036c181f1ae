import type { IncomingMessage, ServerResponse } from 'node:http';
import { finished } from 'node:stream';
import { Bytes } from '../../admission/bytes.ts';
import { freeWhenAnswered, type Place, type Sender } from '../../admission/place.ts';
import type { Bounds, Places } from '../../admission/places.ts';
import { serviceError } from '../../errors/fail.ts';
import { withoutMark } from '../../kernel/json.ts';

/** Bytes of a body that anybody may send: what calls no tool is short. */
export const SHORT_BODY = 1024 * 1024;
/** Bytes of a body that who may write may send: a file of 32 MiB in base64, and what is around it. */
export const LONG_BODY = 46 * 1024 * 1024;
/** Bytes after which nothing is read any more: until then a body that is too large is read and dropped, so that its sender gets an answer. */
const DROPPED = 64 * 1024 * 1024;
/** Long bodies that are in memory at once, each several times: as it came, as text, as values. Others wait, unread. */
export const longBodies: Bounds = { all: 4, ofSystem: 3, ofCaller: 2 };

/** A request whose body is to be read. */
export interface Arrival {
  readonly payload: IncomingMessage;
  /** When the answer is made, the place that a long body has is free. */
  readonly response: ServerResponse;
  readonly places: Places;
  /** Asked once the body turns out longer than `SHORT_BODY`; `null` where it may not be. */
  readonly longSender: () => Promise<Sender | null>;
}

/**
 * The text of a body.
 * @throws tooLarge (116); bodyTooSlow where others wait for its place
 */
export async function readBody(arrival: Arrival): Promise<string> {
  const bytes = new Bytes();
  await collect(arrival, bytes);
  return withoutMark(bytes.text());
}

/** Adds a body to bytes. */
function collect(arrival: Arrival, bytes: Bytes): Promise<void> {
  const { payload } = arrival;
  let size = 0;
  let bound = SHORT_BODY;
  /** `undefined` until it is asked for, `null` where there is none. */
  let place: Place | null | undefined;
  const keep = (piece: Buffer) => {
    if (size <= bound) bytes.add(piece);
    else bytes.clear();
    if (size > DROPPED) payload.destroy();
  };
  return new Promise((resolve, reject) => {
    const giveUp = (error: unknown) => {
      bound = 0;
      bytes.clear();
      reject(error);
    };
    const goOn = (given: Place | null, piece: Buffer) => {
      place = given;
      if (place) bound = LONG_BODY;
      place?.taken.catch(giveUp);
      keep(piece);
      payload.resume();
    };
    finished(payload, { writable: false }, (error) => {
      if (error ?? size > bound) return giveUp(error ?? serviceError('tooLarge'));
      place?.ended();
      resolve();
    });
    payload.on('data', (piece: Buffer) => {
      size += piece.length;
      place?.came(piece.length);
      if (size <= SHORT_BODY || place !== undefined) return keep(piece);
      payload.pause();
      placeFor(arrival).then((given) => goOn(given, piece), giveUp);
    });
  });
}

/** Waits for a place among the long bodies. @returns `null` where the body may not be long, or its sender has gone */
async function placeFor({ response, places, longSender }: Arrival): Promise<Place | null> {
  const sender = await longSender();
  if (!sender || response.closed) return null;
  const place = places.ask(sender);
  freeWhenAnswered(place, response);
  await place.given;
  return place;
}
