import type { ServerResponse } from 'node:http';
import { limits } from '../kernel/limits.ts';
import { unsentBytes } from '../kernel/socket-handle.ts';

/** Interval over which the pace of a client is measured. */
export const PACE_INTERVAL_MS = 5_000;

/** Bytes in an interval below which a client counts as slow. @param interval milliseconds */
export const minBytesIn = (interval: number): number => (limits.minBytesPerSecond * interval) / 1_000;

/**
 * Bytes of a response that have left the connection's buffers. Infinity if nothing waits for the client: the response has not begun, or all that was
 * written has been sent.
 */
export function sentBytes({ headersSent, socket }: ServerResponse): number {
  if (!headersSent || !socket || socket.writableLength === 0) return Number.POSITIVE_INFINITY;
  return socket.bytesWritten - unsentBytes(socket);
}
