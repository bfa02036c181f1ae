import type { RecordServiceError } from './error.ts';

/** How often a request is repeated, and how long the client waits before it. Delays double, and are shortened at random by up to a half. */
export interface RetryPolicy {
  /** Repetitions after the first attempt. Default 3; 0: none. */
  readonly count?: number | undefined;
  /** The longest delay before the first repetition, in milliseconds. Default 250. */
  readonly minDelayMs?: number | undefined;
  /** The longest delay, in milliseconds. Default 10,000. If the service asks for a longer one, the error is thrown at once. */
  readonly maxDelayMs?: number | undefined;
}

export const DEFAULT_RETRIES = { count: 3, minDelayMs: 250, maxDelayMs: 10_000 };

/** Whether the same request may succeed later, and its first attempt is not known to have failed for a reason that stays. */
export function isTransient({ kind, status, retryAfterMs, message }: RecordServiceError): boolean {
  if (kind === 'network' || kind === 'timeout') return true;
  // A time limit (code 124, functions) comes without Retry-After; a 503 that is not the service's is that of a proxy.
  if (status === 503) return retryAfterMs !== undefined || kind === 'answer';
  // Another attempt with this key is under way, such as one that took too long.
  if (status === 409) return message.includes('Idempotency-Key');
  return status === 408 || status === 429 || status === 502 || status === 504;
}

/** Whether an attempt ended without word from the service, which may have carried it out. */
export function isOutcomeUnknown({ kind, status }: RecordServiceError): boolean {
  if (kind === 'network' || kind === 'timeout' || status === 502 || status === 504) return true;
  return kind === 'answer' && (status >= 500 || (status >= 200 && status < 300));
}

/**
 * Whether an answer says that no attempt with its key has written. A repetition of one that has would have its answer, unless that is too long (413),
 * or the credential has ended meanwhile.
 */
export function isDefinite(error: RecordServiceError): boolean {
  const { status, code } = error;
  return status >= 400 && status < 500 && ![401, 403, 413].includes(status) && code !== 209 && !isTransient(error);
}

/** Returns the delay before the next attempt, in milliseconds; `undefined` if the service asks for a longer one than the policy allows. */
export function delayBefore(
  attempt: number,
  { retryAfterMs }: RecordServiceError,
  policy: typeof DEFAULT_RETRIES,
): number | undefined {
  const { minDelayMs, maxDelayMs } = policy;
  if (retryAfterMs !== undefined) return retryAfterMs > maxDelayMs ? undefined : retryAfterMs + Math.random() * minDelayMs;
  return Math.min(maxDelayMs, minDelayMs * 2 ** attempt) * (1 - Math.random() / 2);
}

/** Parses `Retry-After`: seconds or a date. */
export function retryAfter(header: string | null): number | undefined {
  if (header === null) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

/** Waits. @throws the reason of the signal if it is aborted meanwhile */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      if (signal?.aborted) reject(signal.reason);
      else resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
  });
}
