import { isInDoubt, isUnavailable, ServiceError, serviceError } from './fail.ts';
import { TooManyRequests } from './too-many-requests.ts';

/** Value of `Retry-After` in seconds: a store works two seconds after the end of its outage at the latest (faults.md#passing-faults). */
const RETRY_AFTER_S = 2;

/** Returns the HTTP status and JSON text of an error (errors.md#form-of-an-error). Faults of the service reveal nothing of themselves. */
export function renderError(error: unknown): { status: number; json: string } {
  const shown = error instanceof ServiceError ? error : serviceError('internal');
  const inDoubt = shown.key === 'outcomeUnknown' ? true : undefined;
  return {
    status: shown.status,
    json: JSON.stringify({ code: shown.code, error: shown.message || undefined, inDoubt, ...shown.details }),
  };
}

/** Returns the seconds after which a client should retry (`Retry-After`); `undefined` if the error has none. */
export function retryAfterOf(error: unknown): number | undefined {
  if (error instanceof TooManyRequests) return error.retryAfter;
  return isUnavailable(error) || isInDoubt(error) ? RETRY_AFTER_S : undefined;
}
