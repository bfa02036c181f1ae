import type { IncomingHttpHeaders } from 'node:http';
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
