import { isPassing } from '../../errors/fail.ts';
import { endOfWrite, inDoubtSince } from '../../errors/system-faults.ts';

/** How far the work of one request has come, which may be several writes. */
export interface Progress {
  /** Whether one of its writes was carried out. */
  hasWritten: boolean;
}

/**
 * What a request ends with that met an error: where a part of it was done before, nobody may be told that nothing was (CONTRACT "Faults of the
 * store").
 * @param isWrite whether it was to write: that took too long is told of reads alone
 */
export function endOf(error: unknown, { hasWritten }: Progress, isWrite = false): unknown {
  if (hasWritten && isPassing(error)) return inDoubtSince(error);
  return isWrite ? endOfWrite(error) : error;
}
