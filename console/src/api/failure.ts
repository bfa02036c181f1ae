import type { ApiError, Conflict } from '../../../src/console/protocol/protocol.ts';

/** An error answer of the service. */
export class ApiFailure extends Error {
  readonly status: number;
  /** Code of the error catalogue; 0 if the answer has none. Reference: errors.md#codes. */
  readonly code: number;
  readonly conflict: Conflict | undefined;
  /** Seconds after which a retry makes sense. */
  readonly retryAfter: number | undefined;

  constructor(status: number, answer: Partial<ApiError>, retryAfter?: number) {
    super(answer.error ?? '');
    this.status = status;
    this.code = answer.code ?? 0;
    this.conflict = answer.conflict;
    this.retryAfter = retryAfter;
  }
}

/** The service could not be reached. The outcome of a write is unknown. */
export class NoConnection extends Error {}

/** Code of the error catalogue: the session has ended. */
export const INVALID_SESSION = 209;

export function isSessionOver(error: unknown): boolean {
  return error instanceof ApiFailure && error.code === INVALID_SESSION;
}

/** Code of the error catalogue: the caller lacks the right. */
const FORBIDDEN = 119;

export function isForbidden(error: unknown): boolean {
  return error instanceof ApiFailure && error.code === FORBIDDEN;
}

/** Returns whether the requested record or address does not exist or is closed to the caller. */
export function isMissing(error: unknown): boolean {
  return error instanceof ApiFailure && (error.code === 101 || (error.code === 0 && error.status === 404));
}
