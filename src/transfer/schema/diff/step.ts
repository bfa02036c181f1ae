import { ServiceError } from '../../../errors/fail.ts';

/** Runs work whose errors get the name of the step. */
export function inStep<T>(step: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw named(step, error);
  }
}

/** Returns an error of the catalogue with the name of the step that failed; any other error as it is. */
export function named(step: string, error: unknown): unknown {
  if (!(error instanceof ServiceError)) return error;
  const renamed = new ServiceError(error.key, `${step}: ${error.message}`);
  renamed.details = error.details;
  return renamed;
}
