import type { IncomingMessage } from 'node:http';
import { S3Fault } from './fault.ts';

/** Inactivity timeout of a transfer to or from a store. */
export const INACTIVITY_TIMEOUT_MS = 30_000;

/**
 * Watches a transfer for progress.
 * @param progress returns a counter that grows while the transfer progresses, or `null` while no progress is expected
 * @param stalled called once when there was no progress for at least `INACTIVITY_TIMEOUT_MS` (at most twice that)
 * @returns a function that ends the watch
 */
export function watchProgress(progress: () => number | null, stalled: (fault: S3Fault) => void): () => void {
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
 * Destroys a response body when the store stops sending. A slow reader does not count as a stall.
 * @param errorOf makes the error that the reader gets
 */
export function watchBody(body: IncomingMessage, errorOf: (fault: S3Fault) => Error): void {
  const isAwaited = () => !body.complete && body.readableLength < body.readableHighWaterMark;
  const end = watchProgress(
    () => (isAwaited() ? body.socket.bytesRead : null),
    (fault) => body.destroy(errorOf(fault)),
  );
  body.once('close', end);
}
