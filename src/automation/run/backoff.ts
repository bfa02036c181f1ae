import { backoff } from './outcome.ts';

/** Milliseconds until a record is looked at again for which another process has work: at first, and at the most. */
const FOREIGN_PAUSES_MS = { first: 5, most: 20 };
/** Records that wait at the most; then nothing more is begun until some have had their turn. */
const MAX_WAITING_RECORDS = 256;
/** Failures in a row after which a record waits for a while, too, when the store is back: it may be the record that the store has no room for. */
const FAILURES_BEFORE_WAIT = 3;
/** Milliseconds. */
const AFTER_MANY_MS = 1_000;
/** Milliseconds at the most where what is away, and is no store, tells nobody when it is back. */
const PASSING_MS = 1_500;

interface Pause {
  readonly objectId: string;
  /** On the clock that never goes back, as all times here; `null`: it is over. */
  readonly until: number | null;
  /** In a row, of its jobs. */
  readonly failures: number;
  /** How many of them took too long, while the store was there. */
  readonly timeouts: number;
  /** Whether the store was away: it ends when that is back. */
  readonly isOutage: boolean;
  /** How often in a row another process was at it still. */
  readonly looks: number;
}

/** What went wrong with the jobs of a record, in a row. */
export interface Failures {
  readonly failures: number;
  /** Those among them that took too long, while the store was there. */
  readonly timeouts: number;
}

/** Records whose jobs are in the queue and have to wait for a while. */
export class RecordBackoff {
  readonly #pauses = new Map<string, Pause>();

  /** Whether so many wait that the cause is likely to be everybody's. */
  get areMany(): boolean {
    return (
      this.#pauses.size >= MAX_WAITING_RECORDS &&
      this.#pauses
        .values()
        .filter(({ until }) => until !== null)
        .toArray().length >= MAX_WAITING_RECORDS
    );
  }

  has(key: string): boolean {
    return (this.#pauses.get(key)?.until ?? null) !== null;
  }

  /** The objectIds of those that wait. */
  *waiting(): IterableIterator<string> {
    for (const { objectId, until } of this.#pauses.values()) if (until !== null) yield objectId;
  }

  /** How often a record's jobs failed in a row, and how often since something took too long. */
  failures(key: string): Failures {
    const { failures = 0, timeouts = 0 } = this.#pauses.get(key) ?? {};
    return { failures, timeouts };
  }

  /** Another process has an earlier job of the record. */
  awaitOther(key: string, objectId: string, now: number): void {
    const looks = this.#pauses.get(key)?.looks ?? 0;
    const until = now + Math.min(FOREIGN_PAUSES_MS.most, FOREIGN_PAUSES_MS.first * 2 ** looks);
    this.#pauses.set(key, { objectId, until, ...this.failures(key), looks: looks + 1, isOutage: false });
  }

  /**
   * A job failed and is tried again.
   * @param why `outage`: the store is away; `passing`: something else is; `timeout`: it was there and took too long; `fault`: of ours
   */
  fail(key: string, objectId: string, now: number, why: 'outage' | 'passing' | 'timeout' | 'fault'): void {
    const before = this.failures(key);
    const failures = before.failures + 1;
    const timeouts = before.timeouts + (why === 'timeout' ? 1 : 0);
    const pause = backoff(before.failures);
    const until = now + (why === 'passing' ? Math.min(pause, PASSING_MS) : pause);
    this.#pauses.set(key, { objectId, until, failures, timeouts, looks: 0, isOutage: why === 'outage' });
  }

  /** The store is back: pauses that came of its being away end. */
  back(now: number): void {
    for (const [key, pause] of this.#pauses) {
      if (!pause.isOutage || pause.until === null) continue;
      const until = Math.min(pause.until, now + (pause.failures > FAILURES_BEFORE_WAIT ? AFTER_MANY_MS : 0));
      this.#pauses.set(key, { ...pause, until, isOutage: false });
    }
  }

  /** A job went well. A later one of the record may still be waiting for another process. */
  succeed(key: string): void {
    const pause = this.#pauses.get(key);
    if (pause && pause.until !== null) this.#pauses.set(key, { ...pause, failures: 0, timeouts: 0 });
    else if (pause) this.#pauses.delete(key);
  }

  /** Ends the pauses that are over. @returns whether there were any, and when the next one is over */
  end(now: number): { readonly isAny: boolean; readonly next: number | null } {
    let next: number | null = null;
    let isAny = false;
    const mayForget = this.#pauses.size > 4 * MAX_WAITING_RECORDS;
    for (const [key, pause] of this.#pauses) {
      if (pause.until !== null && pause.until > now) next = Math.min(next ?? pause.until, pause.until);
      else {
        isAny ||= pause.until !== null;
        // They count until a job went well, which another process may have done.
        if ((pause.failures === 0 && pause.looks === 0) || mayForget) this.#pauses.delete(key);
        else this.#pauses.set(key, { ...pause, until: null });
      }
    }
    return { isAny, next };
  }
}
