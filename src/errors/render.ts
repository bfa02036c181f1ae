import { isInDoubt, isUnavailable, ServiceError, serviceError } from './fail.ts';
import { TooManyRequests } from './too-many-requests.ts';

/** Seconds until what is not available may be again: a store works two seconds after its outage at the latest. */
const RETRY_AFTER_S = 2;

/** What the caller sees of an error: HTTP status and JSON text (SPEC "Errors"). Faults of ours show nothing of themselves. */
export function renderError(error: unknown): { status: number; json: string } {
  const shown = error instanceof ServiceError ? error : serviceError('internal');
  const inDoubt = shown.key === 'outcomeUnknown' ? true : undefined;
  return { status: shown.status, json: JSON.stringify({ code: shown.code, error: shown.message || undefined, inDoubt }) };
}

/** Seconds after which a client should try again (`Retry-After`); `undefined` where that says nothing. */
export function retryAfterOf(error: unknown): number | undefined {
  if (error instanceof TooManyRequests) return error.retryAfter;
  return isUnavailable(error) || isInDoubt(error) ? RETRY_AFTER_S : undefined;
}
