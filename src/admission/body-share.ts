import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { LoopShare } from './loop-share.ts';

/** Time per turn of the event loop for reading long bodies of all senders, at all addresses: one part of one body. */
const MAX_TURN_MS = 5;

/** The share of the event loop that long bodies have. */
export const bodyShare = new LoopShare({ maxMsPerTurn: MAX_TURN_MS });

/** Length from which a body is read in parts; below it even the worst case takes only some milliseconds. */
export const MIN_LONG_BODY_LENGTH = 64 * 1024;

/** Whether the body of a request may be so long: it announces that, or no length. */
export const mayBeLong = (headers: IncomingHttpHeaders): boolean =>
  Number(headers['content-length']) >= MIN_LONG_BODY_LENGTH || headers['transfer-encoding'] !== undefined;

/** Does the steps of a work, one part of one body in a turn. @param system whose turns are used @returns what the last step returns */
export async function inTurns<T>(system: string, steps: Iterator<unknown, T>): Promise<T> {
  for (;;) {
    const { done, value } = await bodyShare.inTurn(system, () => steps.next());
    if (done) return value as T;
  }
}

/** Executes work at once that can be executed in steps. @returns its result @throws what a step throws */
export function inOneTurn<T>(steps: Iterator<unknown, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value as T;
  }
}

/** Bytes that the event loop receives in a millisecond, apart from what is done with them. */
const RECEIVED_PER_MS = 1024 * 1024;

/**
 * Takes a piece of a long body, and receives no more of it until the next turn if the share of this one is used up: else the pieces of many bodies,
 * two megabytes of each in a turn, would keep all other requests waiting.
 * @param system whose turns are used
 */
export function takeInTurns(
  payload: Pick<IncomingMessage, 'pause' | 'resume'>,
  piece: Buffer,
  system: string,
  take: () => void,
): void {
  bodyShare.charge(piece.length / RECEIVED_PER_MS);
  bodyShare.spend(take);
  if (!bodyShare.isSpent) return;
  payload.pause();
  void bodyShare.waitForTurn(system).then(() => payload.resume());
}
