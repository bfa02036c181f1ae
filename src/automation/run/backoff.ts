import { backoff } from './outcome.ts';

/** Delay before a record is read again for which another process has an earlier job; doubles from `initial` to `max`. */
const FOREIGN_DELAYS_MS = { initial: 5, max: 20 };
/** Number of waiting records at which no further jobs are started. */
const MAX_WAITING_RECORDS = 256;
/** Consecutive failures after which a record waits even when the store is back: the store may lack room for this record. */
const FAILURES_BEFORE_WAIT = 3;
/** Delay of such a record after the store is back. */
const MIN_RECOVERY_DELAY_MS = 1_000;
/** Maximum delay for a transient failure of something other than the store, whose recovery is not signalled. */
const MAX_TRANSIENT_DELAY_MS = 1_500;

interface BackoffState {
  readonly objectId: string;
  /** On the monotonic clock, like all times here; `null`: the wait is over. */
  readonly until: number | null;
  /** Consecutive failures of its jobs. */
  readonly failures: number;
  /** Timeouts among them while the store was available. */
  readonly timeouts: number;
  /** Whether the store was unavailable; the wait ends when it is back. */
  readonly isOutage: boolean;
  /** Consecutive polls at which another process still had an earlier job. */
  readonly polls: number;
}

/** Consecutive failures of the jobs of a record. */
export interface Failures {
  readonly failures: number;
  /** Timeouts among them while the store was available. */
  readonly timeouts: number;
}

/** Backoff of records whose jobs are in the queue. */
export class RecordBackoff {
  readonly #states = new Map<string, BackoffState>();

  /** Whether so many records wait that the cause probably affects all. */
  get isOverloaded(): boolean {
    return (
      this.#states.size >= MAX_WAITING_RECORDS &&
      this.#states
        .values()
        .filter(({ until }) => until !== null)
        .toArray().length >= MAX_WAITING_RECORDS
    );
  }

  has(key: string): boolean {
    return (this.#states.get(key)?.until ?? null) !== null;
  }

  /** The objectIds of the waiting records. */
  *waiting(): IterableIterator<string> {
    for (const { objectId, until } of this.#states.values()) if (until !== null) yield objectId;
  }

  /** Returns the consecutive failures of a record's jobs. */
  failures(key: string): Failures {
    const { failures = 0, timeouts = 0 } = this.#states.get(key) ?? {};
    return { failures, timeouts };
  }

  /** Makes a record wait because another process has an earlier job of it. */
  awaitOther(key: string, objectId: string, now: number): void {
    const polls = this.#states.get(key)?.polls ?? 0;
    const until = now + Math.min(FOREIGN_DELAYS_MS.max, FOREIGN_DELAYS_MS.initial * 2 ** polls);
    this.#states.set(key, { objectId, until, ...this.failures(key), polls: polls + 1, isOutage: false });
  }

  /**
   * Makes a record wait after a failed job.
   * @param why `outage`: the store is unavailable; `passing`: something else is; `timeout`: the store is available but took too long; `fault`: an
   *   internal error
   */
  fail(key: string, objectId: string, now: number, why: 'outage' | 'passing' | 'timeout' | 'fault'): void {
    const before = this.failures(key);
    const failures = before.failures + 1;
    const timeouts = before.timeouts + (why === 'timeout' ? 1 : 0);
    const pause = backoff(before.failures);
    const until = now + (why === 'passing' ? Math.min(pause, MAX_TRANSIENT_DELAY_MS) : pause);
    this.#states.set(key, { objectId, until, failures, timeouts, polls: 0, isOutage: why === 'outage' });
  }

  /** Ends the waits caused by an outage of the store. */
  storeRecovered(now: number): void {
    for (const [key, state] of this.#states) {
      if (!state.isOutage || state.until === null) continue;
      const until = Math.min(state.until, now + (state.failures > FAILURES_BEFORE_WAIT ? MIN_RECOVERY_DELAY_MS : 0));
      this.#states.set(key, { ...state, until, isOutage: false });
    }
  }

  /** Resets the failures of a record. A later job of it may still be waiting for another process. */
  succeed(key: string): void {
    const state = this.#states.get(key);
    if (state && state.until !== null) this.#states.set(key, { ...state, failures: 0, timeouts: 0 });
    else if (state) this.#states.delete(key);
  }

  /** Ends the waits that are over. @returns whether there were any, and when the next one ends */
  expire(now: number): { readonly hasExpired: boolean; readonly next: number | null } {
    let next: number | null = null;
    let hasExpired = false;
    const isFull = this.#states.size > 4 * MAX_WAITING_RECORDS;
    for (const [key, state] of this.#states) {
      if (state.until !== null && state.until > now) next = Math.min(next ?? state.until, state.until);
      else {
        hasExpired ||= state.until !== null;
        // Failures count until a job succeeds, possibly in another process.
        if ((state.failures === 0 && state.polls === 0) || isFull) this.#states.delete(key);
        else this.#states.set(key, { ...state, until: null });
      }
    }
    return { hasExpired, next };
  }
}
