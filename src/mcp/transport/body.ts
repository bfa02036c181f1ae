import type { IncomingMessage, ServerResponse } from 'node:http';
import { takeInTurns } from '../../admission/body-share.ts';
import { FREE_BYTES, type Reservation, type Sender } from '../../admission/reservation.ts';
import { ReservationPool } from '../../admission/reservation-pool.ts';
import { serviceError } from '../../errors/fail.ts';
import { GrowingText } from '../../kernel/growing-text.ts';

/** Maximum size of a body from any sender: messages that call no tool are short. */
export const MAX_SHORT_BODY_BYTES = 1024 * 1024;
/** Maximum size of a body from a caller that may write: a file of 32 MiB in base64, and what surrounds it. */
export const MAX_LONG_BODY_BYTES = 46 * 1024 * 1024;
/** Size at which the connection is closed. Up to it, a body that is too large is read and discarded, so that its sender gets an answer. */
const MAX_DISCARDED_BYTES = 64 * 1024 * 1024;
const MIB = 1024 * 1024;
/** Memory limits: bytes of short bodies, number of long bodies. A long body is held several times: raw, as text, as values. Others wait, unread. */
const shortBodies = { all: 64 * MIB, ofSystem: 48 * MIB, ofCaller: 32 * MIB } as const;
export const longBodies = { all: 4, ofSystem: 3, ofCaller: 2 } as const;

/** Memory for bodies. */
export interface BodyPools {
  readonly short: ReservationPool;
  readonly long: ReservationPool;
}

/** Creates the pools of this process. @param interval milliseconds, see `ReservationPool` */
export const createBodyPools = (interval?: number): BodyPools => ({
  short: new ReservationPool(shortBodies, interval),
  long: new ReservationPool(longBodies, interval),
});

/** A request whose body is to be read. */
export interface IncomingBody {
  readonly payload: IncomingMessage;
  /** Its end frees the reservation of the body. */
  readonly response: ServerResponse;
  readonly pools: BodyPools;
  /** Called once the body exceeds `FREE_BYTES`. */
  readonly sender: () => Sender;
  /** Called once the body exceeds `MAX_SHORT_BODY_BYTES`; `null` if it may not. */
  readonly longSender: () => Promise<Sender | null>;
}

/** Reads a body as text. @throws tooLarge (116); bodyTooSlow if others wait for its memory */
export async function readBody(body: IncomingBody): Promise<string> {
  const bytes = new GrowingText();
  await collect(body, bytes);
  return bytes.text();
}

/** Collects a body in a buffer. */
function collect(body: IncomingBody, bytes: GrowingText): Promise<void> {
  const { payload } = body;
  let size = 0;
  let maxBytes = MAX_SHORT_BODY_BYTES;
  let reservation: Reservation | undefined;
  /** The size at which another reservation is needed; infinite if none is. */
  let reserved = FREE_BYTES;
  const keep = (piece: Buffer) => {
    if (size <= maxBytes) bytes.add(piece);
    else bytes.clear();
    if (size > MAX_DISCARDED_BYTES) payload.destroy();
  };
  return new Promise((resolve, reject) => {
    let isOver = false;
    /** What the last chunks wait for: the `end` event does not wait while the stream is paused. */
    let waited: Promise<void> = Promise.resolve();
    const giveUp = (error: unknown) => {
      isOver = true;
      maxBytes = 0;
      bytes.clear();
      reject(error);
    };
    const reserveShort = async () => {
      reserved = MAX_SHORT_BODY_BYTES;
      return reserveShortBody(body);
    };
    const reserveLong = async () => {
      reserved = Number.POSITIVE_INFINITY;
      const requested = await reserveLongBody(body);
      // While it waits, it may hold as much as a short body.
      reservation?.completed();
      await requested?.granted;
      reservation?.release();
      if (requested && !isOver) maxBytes = MAX_LONG_BODY_BYTES;
      return requested;
    };
    const awaitReservation = async (requested: Reservation | undefined) => {
      reservation = requested;
      reservation?.revoked.catch(giveUp);
      await reservation?.granted;
    };
    let hasEnded = false;
    const onEnd = (error?: Error) => {
      if (hasEnded) return;
      hasEnded = true;
      waited.then(() => {
        if (error ?? size > maxBytes) {
          reservation?.release();
          giveUp(error ?? serviceError('tooLarge'));
          return;
        }
        reservation?.completed();
        resolve();
      });
    };
    // Not `finished`, which costs a short body as much as its text.
    payload
      .on('end', () => onEnd())
      .on('error', onEnd)
      .on('close', () => {
        if (!hasEnded) onEnd(new Error('the client left'));
      });
    payload.on('data', (piece: Buffer) => {
      size += piece.length;
      reservation?.received(piece.length);
      if (size <= reserved) {
        if (reservation) takeInTurns(payload, piece, reservation.sender.system, () => keep(piece));
        else keep(piece);
        return;
      }
      payload.pause();
      waited = (size > MAX_SHORT_BODY_BYTES ? reserveLong() : reserveShort()).then(awaitReservation).then(() => {
        keep(piece);
        payload.resume();
      }, giveUp);
    });
  });
}

/** Reserves memory of a short body; for a chunked body the maximum. */
function reserveShortBody({ payload, response, pools, sender }: IncomingBody): Reservation {
  const length = Number(payload.headers['content-length'] ?? MAX_SHORT_BODY_BYTES);
  const reservation = pools.short.request(sender(), Math.min(length, MAX_SHORT_BODY_BYTES));
  reservation.releaseWhenAnswered(response);
  return reservation;
}

/** Reserves a slot for a long body. @returns `undefined` if the body may not be long or its sender has disconnected */
async function reserveLongBody({ response, pools, longSender }: IncomingBody): Promise<Reservation | undefined> {
  const sender = await longSender();
  if (!sender || response.closed) return undefined;
  const reservation = pools.long.request(sender);
  reservation.releaseWhenAnswered(response);
  return reservation;
}
