import { type PassingFault, passingFaultOfSystem, unavailableSince } from '../../errors/system-faults.ts';

const kinds = new WeakMap<object, PassingFault>();

/** `unavailable` for what passes at the place where files are, so that the log can be told of it. */
export function fileFault(kind: PassingFault, cause: Error): Error {
  const error = unavailableSince(cause);
  kinds.set(error, kind);
  return error;
}

/** The kind of a fault of the place where files are; `undefined` for every other error. */
export function kindOfFileFault(error: unknown): PassingFault | undefined {
  return typeof error === 'object' && error !== null ? kinds.get(error) : undefined;
}

/** Errors of the operating system that can pass, as `unavailable`; every other one as it is. */
export function sortFileError<T>(error: T): T | Error {
  const kind = passingFaultOfSystem(error);
  return kind === null ? error : fileFault(kind, error as Error);
}

/** Does something with files of this machine. @throws unavailable, and what else goes wrong as it is */
export async function withFileFaults<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw sortFileError(error);
  }
}
