import type { ServerResponse } from 'node:http';
import { limits } from '../kernel/limits.ts';
import { unsentBytes } from '../kernel/socket-handle.ts';

/** Milliseconds over which it is measured how fast a client sends or takes. */
export const PACE_INTERVAL_MS = 5_000;

/** Bytes of such an interval below which a client is slow. @param interval milliseconds */
export const leastBytesIn = (interval: number): number => (limits.leastPace * interval) / 1_000;

/**
 * Bytes that the client of an answer has taken from its connection; without end where nothing waits for it: the answer is not begun, or all
 * that there is of it has been taken.
 */
export function takenBytes({ headersSent, socket }: ServerResponse): number {
  if (!headersSent || !socket || socket.writableLength === 0) return Number.POSITIVE_INFINITY;
  return socket.bytesWritten - unsentBytes(socket);
}
