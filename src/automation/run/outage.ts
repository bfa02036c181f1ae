import { setTimeout as wait } from 'node:timers/promises';
import { isPassing } from '../../errors/fail.ts';
import { memoByObject } from '../../kernel/memo.ts';
import type { Store } from '../../storage/port.ts';
import { isAway } from '../../storage/recovery.ts';

/** Milliseconds between two looks whether somebody still waits. */
const GLANCE_MS = 200;

/**
 * Whether a store is away, as work on it finds out (CONTRACT "Faults of the store"). While it is, nothing of automation touches it: the store
 * itself looks when it is back, once for all who wait.
 */
export class Outage {
  readonly #store: Store;
  #over: Promise<void> | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Whether the store is known to be away. */
  get isKnown(): boolean {
    return this.#over !== undefined;
  }

  /** Resolves once the store is back; at once where it is not known to be away. Never rejects. */
  whenOver(): Promise<void> {
    return this.#over ?? Promise.resolve();
  }

  /** Work failed. @returns whether that is since the store is away: it is known from now on, until it is back */
  async isCauseOf(error: unknown): Promise<boolean> {
    if (!isPassing(error)) return false;
    if (this.#over) return true;
    if (!(await isAway(this.#store))) return false;
    this.#over ??= this.#store.whenBack().then(() => {
      this.#over = undefined;
    });
    return true;
  }

  /** Waits until the store is back, for as long as somebody wants to know. */
  async sleep(isOver: () => boolean): Promise<void> {
    while (this.#over && !isOver()) {
      const glance = new AbortController();
      const late = wait(GLANCE_MS, undefined, { ref: false, signal: glance.signal }).catch(() => {});
      await Promise.race([this.#over, late]);
      glance.abort();
    }
  }
}

/** The outage of a store: one for all that automation does there. */
export const outageOf = memoByObject((store: Store) => new Outage(store));
