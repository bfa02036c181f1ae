import { type RetryableKind, retryableKinds } from '../queue/index.ts';

/** Milliseconds that a kind waits after a shared fault: the first time, and at the most. */
const MIN_HOLD_MS = 2_000;
const MAX_HOLD_MS = 30_000;

/** Kinds of later jobs that wait in all systems of this process, since what all of their jobs need is away: a mail server. */
export class CircuitBreaker {
  readonly #faults = new Map<RetryableKind, { readonly pause: number; readonly until: number }>();

  /** A shared fault was met. Of attempts that were made side by side the first one counts. @param now on the clock that never goes back, as all times here; `longest`: milliseconds, of a wait that costs little */
  fail(kind: RetryableKind, now: number, longest = MAX_HOLD_MS): void {
    const known = this.#faults.get(kind);
    if (known && now < known.until) return;
    const pause = Math.min(longest, known ? 2 * known.pause : MIN_HOLD_MS);
    this.#faults.set(kind, { pause, until: now + pause });
  }

  /** What all jobs of a kind need was there. */
  succeed(kind: RetryableKind): void {
    this.#faults.delete(kind);
  }

  /** @returns how many jobs of a kind may be at work side by side: one alone, to try, after a fault */
  most(kind: RetryableKind, usual: number, now: number): number {
    const known = this.#faults.get(kind);
    if (!known) return usual;
    return now < known.until ? 0 : 1;
  }

  /** When the first of the kinds that wait may be tried again; `null` where none waits. */
  end(now: number): number | null {
    const ends = retryableKinds.map((kind) => this.#faults.get(kind)?.until ?? 0).filter((until) => until > now);
    return ends.length === 0 ? null : Math.min(...ends);
  }
}
