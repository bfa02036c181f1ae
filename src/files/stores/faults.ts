import { type PassingFault, passingFaultOfSystem, unavailableSince } from '../../errors/system-faults.ts';

const kinds = new WeakMap<object, PassingFault>();

/** Returns `unavailable` for a transient fault of the file store, remembering its kind for the log. */
export function fileFault(kind: PassingFault, cause: Error): Error {
  const error = unavailableSince(cause);
  kinds.set(error, kind);
  return error;
}

/** Returns the kind of a transient fault of the file store; `undefined` for other errors. */
export function kindOfFileFault(error: unknown): PassingFault | undefined {
  return typeof error === 'object' && error !== null ? kinds.get(error) : undefined;
}

/** Converts transient errors of the operating system to `unavailable`; returns others unchanged. */
export function sortFileError<T>(error: T): T | Error {
  const kind = passingFaultOfSystem(error);
  return kind === null ? error : fileFault(kind, error as Error);
}

/** Runs file operations of this machine. @throws unavailable for transient errors, others unchanged */
export async function withFileFaults<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw sortFileError(error);
  }
}
