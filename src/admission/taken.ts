import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A connection with what the system has of a text that was written to it whole. */
type Connection = Socket & { _handle?: { readonly writeQueueSize?: number } | null };

/**
 * Bytes that the client of an answer has taken from its connection; without end where nothing waits for him: the answer is not begun, or all
 * that there is of it has been taken.
 */
export function takenBytes({ headersSent, socket }: ServerResponse): number {
  const connection = socket as Connection | null;
  if (!headersSent || !connection || connection.writableLength === 0) return Number.POSITIVE_INFINITY;
  return connection.bytesWritten - (connection._handle?.writeQueueSize ?? 0);
}
