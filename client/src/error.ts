/**
 * Why a request failed: `refused`, the service answered with an error; `network`, no whole answer came; `timeout`, it took longer than `timeoutMs`;
 * `answer`, what came is no answer of the service.
 */
export type FailureKind = 'refused' | 'network' | 'timeout' | 'answer';

interface Failure {
  readonly kind: FailureKind;
  readonly status?: number;
  readonly requestId?: string | undefined;
  readonly body?: Record<string, unknown>;
  readonly retryAfterMs?: number | undefined;
  readonly inDoubt?: boolean;
  readonly cause?: unknown;
}

/** A request that failed. Neither the text nor any property holds a credential. */
export class RecordServiceError extends Error {
  override readonly name = 'RecordServiceError';
  readonly kind: FailureKind;
  /** The HTTP status; 0 if no answer came. Of an item of a batch it is that of the whole answer, 200. */
  readonly status: number;
  /** The code of the error (errors.md#codes); `undefined` if the answer has none. */
  readonly code: number | undefined;
  /** The id of the request, as the log of the service has it. */
  readonly requestId: string | undefined;
  /** What the answer says besides, such as `updatedAt` of a conflict, `fields`, `duplicates`, `index` of a transaction. */
  readonly details: Readonly<Record<string, unknown>>;
  /** Whether the request was a write that may have been made. */
  inDoubt: boolean;
  /** How long the service asks to wait before a repetition, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, { kind, status = 0, requestId, body = {}, retryAfterMs, inDoubt = false, cause }: Failure) {
    super(message, cause === undefined ? undefined : { cause });
    const { code, error: _, inDoubt: isUnknown, ...details } = body;
    this.kind = kind;
    this.status = status;
    this.code = typeof code === 'number' ? code : undefined;
    this.requestId = requestId;
    this.details = details;
    this.inDoubt = inDoubt || isUnknown === true;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Returns the error of an item of a batch or an upsert, whose status is that of the whole answer. */
export function itemError(body: Record<string, unknown>, requestId: string | undefined): RecordServiceError {
  const text = typeof body.error === 'string' ? body.error : 'The item was refused.';
  return new RecordServiceError(text, { kind: 'refused', status: 200, requestId, body });
}
