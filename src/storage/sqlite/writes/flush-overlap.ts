import { performance } from 'node:perf_hooks';

/** Ratio of the time of a flush to the event loop's work for all clients, up to which two groups in turn are faster than one. */
const MAX_FLUSH_RATIO = 0.7;
/** Weight of the newest group in the averages. */
const NEWEST_WEIGHT = 1 / 8;
/** Writes from which a group is measured. */
const MIN_WRITES = 4;

/** Time since the start of the process, in ms, in which the event loop waited and in which it worked. */
interface LoopTime {
  readonly idle: number;
  readonly active: number;
}

/**
 * Decides whether the writes of all clients are committed in two groups in turn. Clients that are answered together send their next writes together;
 * in one group, the event loop has nothing to do during its flush. In two, it works for one half while the other half is flushed. That takes twice as
 * many flushes, thus a slow disk gets all writes in one group.
 */
export class FlushOverlap {
  readonly #now: () => LoopTime;
  #isSplit = false;
  /** At the beginning of the last flush; `undefined` if its group is not measured. */
  #began: LoopTime | undefined;
  /** Averages: the event loop's work for the writes of all clients, and the time of a flush. */
  #workMs = 0;
  #flushMs = 0;

  constructor(now: () => LoopTime = performance.eventLoopUtilization) {
    this.#now = now;
  }

  /** Whether a group takes the writes of half of the clients only. */
  get isSplit(): boolean {
    return this.#isSplit;
  }

  /** Call when the flush of a group of this many writes begins. */
  began(writes: number): void {
    const before = this.#began;
    this.#began = writes < MIN_WRITES ? undefined : this.#now();
    if (!before || !this.#began) return;
    const activeMs = this.#began.active - before.active;
    this.#workMs = averaged(this.#workMs, this.#isSplit ? 2 * activeMs : activeMs);
  }

  /** Call when it has ended. */
  ended(): void {
    if (!this.#began) return;
    const idleMs = this.#now().idle - this.#began.idle;
    // The event loop waits only for what is left of the flush after the work for the other half.
    this.#flushMs = averaged(this.#flushMs, this.#isSplit ? idleMs + this.#workMs / 2 : idleMs);
    this.#isSplit = this.#flushMs < MAX_FLUSH_RATIO * this.#workMs;
  }
}

function averaged(average: number, newest: number): number {
  return average === 0 ? newest : average + NEWEST_WEIGHT * (newest - average);
}
