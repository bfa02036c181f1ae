import { isTimeout, type ServiceError, serviceError } from './fail.ts';

/** Kinds of passing faults, as the log names them. Reference: faults.md#conditions-in-the-log. */
export type PassingFault =
  | 'the disk is full'
  | 'the storage is read-only'
  | 'no file descriptors are left'
  | 'no memory is left'
  | 'an I/O error'
  | 'the store is busy'
  | 'the store cannot be opened'
  | 'the store is missing'
  | 'the store is empty'
  | "the store is another system's"
  | 'the store is older than the registry says'
  | 'a page cannot be read'
  | 'the store is damaged'
  | 'the database cannot be reached'
  | 'a node of the database cannot be reached'
  | 'the database has no room'
  | 'the database refuses for now';

/** By the code of the operating system's error. */
const kinds: ReadonlyMap<unknown, PassingFault> = new Map([
  ['ENOSPC', 'the disk is full'],
  ['EDQUOT', 'the disk is full'],
  ['EFBIG', 'the disk is full'],
  ['EROFS', 'the storage is read-only'],
  ['EACCES', 'the storage is read-only'],
  ['EPERM', 'the storage is read-only'],
  ['EMFILE', 'no file descriptors are left'],
  ['ENFILE', 'no file descriptors are left'],
  ['ENOMEM', 'no memory is left'],
  ['EIO', 'an I/O error'],
  ['ESTALE', 'an I/O error'],
  ['ENXIO', 'an I/O error'],
  ['ENODEV', 'an I/O error'],
  ['ENOTCONN', 'an I/O error'],
  ['EREMOTEIO', 'an I/O error'],
  ['EHOSTDOWN', 'an I/O error'],
  ['ETIMEDOUT', 'an I/O error'],
  ['EBUSY', 'the store is busy'],
  ['EAGAIN', 'the store is busy'],
]);

/** Returns the kind of a passing fault of the operating system; `null` for every other error. */
export function passingFaultOfSystem(error: unknown): PassingFault | null {
  return kinds.get((error as { readonly code?: unknown } | null)?.code) ?? null;
}

/** Returns `unavailable` for a passing fault, with its cause. */
export function unavailableSince(cause: unknown): ServiceError {
  const error = serviceError('unavailable');
  error.cause = cause;
  return error;
}

/** Returns `outcomeUnknown` for a write in doubt, with its cause. */
export function inDoubtSince(cause: unknown): ServiceError {
  const error = serviceError('outcomeUnknown');
  error.cause = cause;
  return error;
}

/** Returns the error to report for a write that was not done: a timeout of a read of its own becomes `unavailable`, since 124 is for reads. */
export function errorOfWrite(error: unknown): unknown {
  return isTimeout(error) ? unavailableSince(error) : error;
}
