import type { IncomingMessage } from 'node:http';
import { S3Fault } from './fault.ts';

/** How long a store may send or take nothing, in milliseconds. */
export const INACTIVITY_TIMEOUT_MS = 30_000;

/**
 * Looks whether something goes on.
 * @param progress a number that grows while it does; `null` while nothing is to be expected
 * @param stalled called once where it does not for `INACTIVITY_TIMEOUT_MS` at the least, twice that at the most
 * @returns ends the watch
 */
export function watch(progress: () => number | null, stalled: (fault: S3Fault) => void): () => void {
  let seen: number | null = null;
  const timer = setInterval(() => {
    const now = progress();
    if (now !== null && now === seen) {
      clearInterval(timer);
      stalled(new S3Fault(`nothing went on for ${INACTIVITY_TIMEOUT_MS / 1000} seconds`, { code: 'ETIMEDOUT' }));
    }
    seen = now;
  }, INACTIVITY_TIMEOUT_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/**
 * Cuts an answer whose store sends nothing any more, but not one whose reader is slow.
 * @param errorOf what the reader gets then
 */
export function watchBody(body: IncomingMessage, errorOf: (fault: S3Fault) => Error): void {
  const isAwaited = () => !body.complete && body.readableLength < body.readableHighWaterMark;
  const end = watch(
    () => (isAwaited() ? body.socket.bytesRead : null),
    (fault) => body.destroy(errorOf(fault)),
  );
  body.once('close', end);
}
