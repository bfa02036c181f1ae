import type { ServiceError } from '../../errors/fail.ts';

/** What helps an agent to do better next time. */
export interface Advice {
  /** The form that is expected, as a sentence without its full stop. */
  readonly expected?: string;
  /** The tool to call next. */
  readonly next?: string;
}

const given = new WeakMap<Error, Advice>();

/** An error with advice of the tool's own, which counts before the general one. @returns the same error, to be thrown */
export function advise(error: ServiceError, advice: Advice): ServiceError {
  given.set(error, advice);
  return error;
}

/** The advice that a tool gave. */
export function adviceOf(error: ServiceError): Advice | undefined {
  return given.get(error);
}
