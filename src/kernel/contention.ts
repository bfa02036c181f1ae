import { setTimeout as wait } from 'node:timers/promises';

/**
 * Time limit, in milliseconds, of retrying work that others overtook or blocked. A time, not a count: each failed attempt means that another
 * writer succeeded, and the number of others is no property of the work.
 */
export const CONTENTION_LIMIT_MS = 10_000;
/** Minimum number of attempts, however long each takes. */
const MIN_ATTEMPTS = 3;
/** Default growth of the pauses between attempts, and the longest pause, in milliseconds. */
const RETRY_DELAY_STEP_MS = 1;
const MAX_RETRY_DELAY_MS = 20;

/** The attempts of one piece of work within a time limit, with growing random pauses between them (backoff with jitter). */
export class Contention {
  readonly #until: number;
  #attempt = 1;

  constructor(limitMs = CONTENTION_LIMIT_MS) {
    this.#until = performance.now() + limitMs;
  }

  /** The number of the present attempt, from 1. */
  get attempt(): number {
    return this.#attempt;
  }

  /** Whether the time limit forbids another attempt. */
  get isOver(): boolean {
    return this.#attempt >= MIN_ATTEMPTS && performance.now() > this.#until;
  }

  /** Starts the next attempt after a pause. @param stepMs growth of the longest pause per attempt; 0: no pause @param maxMs its maximum */
  async next(stepMs = RETRY_DELAY_STEP_MS, maxMs = MAX_RETRY_DELAY_MS): Promise<void> {
    const longestMs = Math.min(stepMs * this.#attempt++, maxMs);
    if (longestMs > 0) await wait(Math.random() * longestMs);
  }
}
