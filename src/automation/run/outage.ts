import { setTimeout as wait } from 'node:timers/promises';
import { isPassing } from '../../errors/fail.ts';
import { memoByObject } from '../../kernel/memo.ts';
import type { Store } from '../../storage/port.ts';
import { isAway } from '../../storage/recovery.ts';

/** Interval at which `sleep` checks whether to stop waiting. */
const POLL_INTERVAL_MS = 200;

/**
 * Tracks whether a store is unavailable, as found by failing work. During an outage automation does not use the store; the store itself polls for its
 * return, once for all waiting code.
 * Reference: faults.md#passing-faults.
 */
export class Outage {
  readonly #store: Store;
  #over: Promise<void> | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Whether the store is known to be unavailable. */
  get isKnown(): boolean {
    return this.#over !== undefined;
  }

  /** Resolves when the store is back, immediately if no outage is known. Never rejects. */
  whenOver(): Promise<void> {
    return this.#over ?? Promise.resolve();
  }

  /** Checks a failure. @returns whether the cause is an outage of the store, which is then remembered until the store is back */
  async isCauseOf(error: unknown): Promise<boolean> {
    if (!isPassing(error)) return false;
    if (this.#over) return true;
    if (!(await isAway(this.#store))) return false;
    this.#over ??= this.#store.whenBack().then(() => {
      this.#over = undefined;
    });
    return true;
  }

  /** Waits until the store is back, or `isOver` returns true. */
  async sleep(isOver: () => boolean): Promise<void> {
    while (this.#over && !isOver()) {
      const abort = new AbortController();
      const timeout = wait(POLL_INTERVAL_MS, undefined, { ref: false, signal: abort.signal }).catch(() => {});
      await Promise.race([this.#over, timeout]);
      abort.abort();
    }
  }
}

/** The outage of a store, shared by all of automation. */
export const outageOf = memoByObject((store: Store) => new Outage(store));
