import { type RetryableKind, retryableKinds } from '../queue/index.ts';

/** Time that a kind of job is suspended after a shared fault: first and maximum. */
const MIN_OPEN_MS = 2_000;
const MAX_OPEN_MS = 30_000;

/**
 * Suspends kinds of retryable jobs, in all systems of this process, while something that all of their jobs need is unavailable, e.g. the mail server.
 */
export class CircuitBreaker {
  readonly #faults = new Map<RetryableKind, { readonly pause: number; readonly until: number }>();

  /**
   * Records a shared fault. Of concurrent attempts only the first counts. @param now on the monotonic clock, like all times here @param maxDelayMs
   * maximum suspension
   */
  fail(kind: RetryableKind, now: number, maxDelayMs = MAX_OPEN_MS): void {
    const fault = this.#faults.get(kind);
    if (fault && now < fault.until) return;
    const pause = Math.min(maxDelayMs, fault ? 2 * fault.pause : MIN_OPEN_MS);
    this.#faults.set(kind, { pause, until: now + pause });
  }

  /** Records that what the jobs need is available. */
  succeed(kind: RetryableKind): void {
    this.#faults.delete(kind);
  }

  /** @returns how many jobs of a kind may run concurrently: none while suspended, then one as a probe, and `limit` after a success */
  maxConcurrent(kind: RetryableKind, limit: number, now: number): number {
    const fault = this.#faults.get(kind);
    if (!fault) return limit;
    return now < fault.until ? 0 : 1;
  }

  /** Returns when the first suspended kind may be probed; `null` if none is suspended. */
  nextProbe(now: number): number | null {
    const ends = retryableKinds.map((kind) => this.#faults.get(kind)?.until ?? 0).filter((until) => until > now);
    return ends.length === 0 ? null : Math.min(...ends);
  }
}
