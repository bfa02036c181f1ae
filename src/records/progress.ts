import { isPassing, serviceError } from '../errors/fail.ts';

/** How far the work of one request has come, which may be several writes. */
export interface Progress {
  /** Whether one of its writes was carried out. */
  hasWritten: boolean;
}

/**
 * What a request ends with that met an error: where a part of it was done before, nobody may be told that nothing was (CONTRACT "Faults of the
 * store").
 */
export function endOf(error: unknown, { hasWritten }: Progress): unknown {
  if (!hasWritten || !isPassing(error)) return error;
  const inDoubt = serviceError('outcomeUnknown');
  inDoubt.cause = error;
  return inDoubt;
}
