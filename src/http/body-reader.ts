import type { IncomingMessage } from 'node:http';
import { Bytes } from '../admission/bytes.ts';
import { FREE_BYTES, type Place } from '../admission/place.ts';
import { serviceError } from '../errors/fail.ts';
import { withoutMark } from '../kernel/json.ts';

/** A body that is to be read. */
export interface Arrival {
  readonly payload: IncomingMessage;
  /** Bytes that it has at most. */
  readonly bound: number;
  /** Asks for the room that it takes. Called where it has more than `FREE_BYTES`. @param size bytes, as far as it is known */
  readonly ask: (size: number) => Place;
}

/**
 * Reads a body. Nothing more of it is read while it waits for its place.
 * @param done is given its text; tooLarge (413), bodyTooSlow (408) where others waited for its place, badRequest (400) where it broke off
 */
export function readBody({ payload, bound, ask }: Arrival, done: (error: Error | null, text?: string) => void): void {
  // Not known of a body that is sent in chunks.
  const length = Number(payload.headers['content-length'] ?? bound);
  if (length > bound) {
    done(serviceError('tooLarge'));
    return;
  }
  const bytes = new Bytes(length);
  let size = 0;
  let place: Place | undefined;
  const end = (error: Error | null) => {
    payload.off('data', onData).off('end', onEnd).off('error', onError);
    if (error) {
      bytes.clear();
      place?.free();
      done(error);
    } else {
      place?.ended();
      done(null, withoutMark(bytes.text()));
    }
  };
  const onEnd = () => end(null);
  // The client has left: nobody's fault.
  const onError = () => end(serviceError('badRequest'));
  const onData = (piece: Buffer) => {
    size += piece.length;
    if (size > bound) end(serviceError('tooLarge'));
    else bytes.add(piece);
    if (size <= FREE_BYTES || size > bound) return;
    place ??= admit(payload, ask(length), end);
    place.came(piece.length);
  };
  payload.on('data', onData).on('end', onEnd).on('error', onError);
}

/** @param end is called where the place is taken away */
function admit(payload: IncomingMessage, place: Place, end: (error: Error) => void): Place {
  place.taken.catch(end);
  if (place.isGiven) return place;
  payload.pause();
  place.given.then(() => payload.resume());
  return place;
}
