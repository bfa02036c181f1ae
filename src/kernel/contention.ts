import { setTimeout as wait } from 'node:timers/promises';

/**
 * How long work is done again since others were faster or in its way, in milliseconds. A time and not a count bounds it: each attempt that
 * fails means that another one succeeded, and how many others there are is no property of the work.
 */
export const CONTENTION_LIMIT_MS = 10_000;
/** Attempts that work has in any case, however long each takes. */
const MIN_ATTEMPTS = 3;
/** The pauses between attempts where nothing else is said: what they grow by, and the longest, in milliseconds. */
const PAUSE_STEP_MS = 1;
const MAX_PAUSE_MS = 20;

/** The attempts of one piece of work, which may last for so long together, with random pauses between them that grow. */
export class Contention {
  readonly #until: number;
  #attempt = 1;

  constructor(limitMs = CONTENTION_LIMIT_MS) {
    this.#until = performance.now() + limitMs;
  }

  /** Which attempt it is, from 1. */
  get attempt(): number {
    return this.#attempt;
  }

  /** Whether it has lasted too long for another attempt. */
  get isOver(): boolean {
    return this.#attempt >= MIN_ATTEMPTS && performance.now() > this.#until;
  }

  /** Begins the next attempt. @param stepMs what the longest pause before it grows by with each attempt; 0: no pause @param maxMs up to this */
  async next(stepMs = PAUSE_STEP_MS, maxMs = MAX_PAUSE_MS): Promise<void> {
    const longestMs = Math.min(stepMs * this.#attempt++, maxMs);
    if (longestMs > 0) await wait(Math.random() * longestMs);
  }
}
