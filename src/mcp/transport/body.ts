import type { IncomingMessage, ServerResponse } from 'node:http';
import { finished } from 'node:stream';
import { FREE_BYTES, type Place, type Sender } from '../../admission/place.ts';
import { Places } from '../../admission/places.ts';
import { serviceError } from '../../errors/fail.ts';
import { GrowingBuffer } from '../../kernel/growing-buffer.ts';
import { withoutMark } from '../../kernel/json.ts';

/** Bytes of a body that anybody may send: what calls no tool is short. */
export const MAX_SHORT_BODY_BYTES = 1024 * 1024;
/** Bytes of a body that who may write may send: a file of 32 MiB in base64, and what is around it. */
export const MAX_LONG_BODY_BYTES = 46 * 1024 * 1024;
/** Bytes after which nothing is read any more: until then a body that is too large is read and dropped, so that its sender gets an answer. */
const MAX_DROPPED_BYTES = 64 * 1024 * 1024;
const MIB = 1024 * 1024;
/** Bytes of short bodies that are in memory at once, and long bodies, each several times: as it came, as text, as values. Others wait, unread. */
const shortBodies = { all: 64 * MIB, ofSystem: 48 * MIB, ofCaller: 32 * MIB } as const;
const longBodies = { all: 4, ofSystem: 3, ofCaller: 2 } as const;

/** Where bodies find room. */
export interface BodyPlaces {
  readonly short: Places;
  readonly long: Places;
}

/** The room for bodies of this process. @param interval milliseconds, as of `Places` */
export const bodyPlaces = (interval?: number): BodyPlaces => ({
  short: new Places(shortBodies, interval),
  long: new Places(longBodies, interval),
});

/** A request whose body is to be read. */
export interface Arrival {
  readonly payload: IncomingMessage;
  /** When the answer is made, the place of the body is free. */
  readonly response: ServerResponse;
  readonly places: BodyPlaces;
  /** Asked once the body turns out longer than `FREE_BYTES`. */
  readonly sender: () => Sender;
  /** Asked once the body turns out longer than `MAX_SHORT_BODY_BYTES`; `null` where it may not be. */
  readonly longSender: () => Promise<Sender | null>;
}

/**
 * The text of a body.
 * @throws tooLarge (116); bodyTooSlow where others wait for its place
 */
export async function readBody(arrival: Arrival): Promise<string> {
  const bytes = new GrowingBuffer();
  await collect(arrival, bytes);
  return withoutMark(bytes.text());
}

/** Adds a body to bytes. */
function collect(arrival: Arrival, bytes: GrowingBuffer): Promise<void> {
  const { payload } = arrival;
  let size = 0;
  let bound = MAX_SHORT_BODY_BYTES;
  let place: Place | undefined;
  /** The size from which on another place is needed; without end where there is none. */
  let placed = FREE_BYTES;
  const keep = (piece: Buffer) => {
    if (size <= bound) bytes.add(piece);
    else bytes.clear();
    if (size > MAX_DROPPED_BYTES) payload.destroy();
  };
  return new Promise((resolve, reject) => {
    let isOver = false;
    /** What the last pieces wait for: the end of a body does not wait for the pause of its stream. */
    let waited: Promise<void> = Promise.resolve();
    const giveUp = (error: unknown) => {
      isOver = true;
      bound = 0;
      bytes.clear();
      reject(error);
    };
    const askShort = async () => {
      placed = MAX_SHORT_BODY_BYTES;
      return shortPlace(arrival);
    };
    const askLong = async () => {
      placed = Number.POSITIVE_INFINITY;
      const asked = await longPlace(arrival);
      // It waits with what a short body may have in memory.
      place?.ended();
      await asked?.given;
      place?.free();
      if (asked && !isOver) bound = MAX_LONG_BODY_BYTES;
      return asked;
    };
    const admit = async (asked: Place | undefined) => {
      place = asked;
      place?.taken.catch(giveUp);
      await place?.given;
    };
    finished(payload, { writable: false }, (error) => {
      waited.then(() => {
        if (error ?? size > bound) {
          place?.free();
          giveUp(error ?? serviceError('tooLarge'));
          return;
        }
        place?.ended();
        resolve();
      });
    });
    payload.on('data', (piece: Buffer) => {
      size += piece.length;
      place?.came(piece.length);
      if (size <= placed) return keep(piece);
      payload.pause();
      waited = (size > MAX_SHORT_BODY_BYTES ? askLong() : askShort()).then(admit).then(() => {
        keep(piece);
        payload.resume();
      }, giveUp);
    });
  });
}

/** Asks for room among the short bodies, of a body in chunks for the longest. */
function shortPlace({ payload, response, places, sender }: Arrival): Place {
  const length = Number(payload.headers['content-length'] ?? MAX_SHORT_BODY_BYTES);
  const place = places.short.ask(sender(), Math.min(length, MAX_SHORT_BODY_BYTES));
  place.freeWhenAnswered(response);
  return place;
}

/** Asks for a place among the long bodies. @returns `undefined` where the body may not be long, or its sender has gone */
async function longPlace({ response, places, longSender }: Arrival): Promise<Place | undefined> {
  const sender = await longSender();
  if (!sender || response.closed) return undefined;
  const place = places.long.ask(sender);
  place.freeWhenAnswered(response);
  return place;
}
