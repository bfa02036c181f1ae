import type { ApiError, Conflict } from '../../../src/console/protocol/protocol.ts';

/** An answer of the service that is an error. */
export class ApiFailure extends Error {
  readonly status: number;
  /** As of the catalogue (SPEC "Errors"); 0 where the answer has none. */
  readonly code: number;
  readonly conflict: Conflict | undefined;
  /** Seconds after which another try makes sense. */
  readonly retryAfter: number | undefined;

  constructor(status: number, answer: Partial<ApiError>, retryAfter?: number) {
    super(answer.error ?? '');
    this.status = status;
    this.code = answer.code ?? 0;
    this.conflict = answer.conflict;
    this.retryAfter = retryAfter;
  }
}

/** The service could not be reached; nobody knows whether a write was carried out. */
export class NoConnection extends Error {}

/** Catalogue: the session has ended. */
export const INVALID_SESSION = 209;

export function isSessionOver(error: unknown): boolean {
  return error instanceof ApiFailure && error.code === INVALID_SESSION;
}

/** Catalogue: the caller lacks the right. */
const FORBIDDEN = 119;

export function isForbidden(error: unknown): boolean {
  return error instanceof ApiFailure && error.code === FORBIDDEN;
}

/** Whether a record, or what was asked for, is not there or not open to the caller. */
export function isMissing(error: unknown): boolean {
  return error instanceof ApiFailure && (error.code === 101 || (error.code === 0 && error.status === 404));
}
