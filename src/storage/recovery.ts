import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import type { Store } from './port.ts';

/** Interval between probes of a failing store. Work that waits for it continues within two seconds of the end of an outage. */
const PROBE_INTERVAL_MS = 500;
/** Consecutive successful probes after which the store counts as available although callers still report faults. */
const MAX_PROBES = 3;

/**
 * Tracks whether a store works again after a transient fault. Reference: faults.md#passing-faults. During an outage one probe at an interval serves
 * all waiting work; requests of clients try the store themselves.
 */
export class Recovery {
  readonly #probe: () => Promise<void>;
  readonly #onBack: () => void;
  #probing: Promise<void> | undefined;
  /** Number of faults reported. */
  #faults = 0;
  #isClosed = false;

  /**
   * @param probe rejects if the store does not answer a read and accept a write
   * @param onBack called when it works again
   */
  constructor(probe: () => Promise<void>, onBack: () => void = () => {}) {
    this.#probe = probe;
    this.#onBack = onBack;
  }

  /** Whether a fault was reported and no probe has succeeded since. */
  get isAway(): boolean {
    return this.#probing !== undefined;
  }

  /** Reports a transient fault. */
  met(): void {
    if (this.#isClosed) return;
    this.#faults++;
    this.#probing ??= this.#probeUntilBack();
  }

  /** Resolves once the store works; immediately if no fault is known. Never rejects. */
  whenBack(): Promise<void> {
    return this.#probing ?? Promise.resolve();
  }

  async #probeUntilBack(): Promise<void> {
    let succeeded = 0;
    while (!this.#isClosed) {
      await wait(PROBE_INTERVAL_MS, undefined, { ref: false });
      if (this.#isClosed) break;
      try {
        const faults = this.#faults;
        await this.#probe();
        // A fault reported during the probe may have happened after it succeeded. Faults that continue through several successful probes are the
        // caller's own problem.
        if (faults === this.#faults || ++succeeded === MAX_PROBES) break;
      } catch {
        succeeded = 0;
      }
    }
    this.#probing = undefined;
    if (!this.#isClosed) this.#onBack();
  }

  /** Stops probing; waiting work continues. */
  close(): void {
    this.#isClosed = true;
  }
}

/** Returns whether a store is known to be unavailable: it met a transient fault, and no probe has succeeded since. */
export function isAway(store: Pick<Store, 'whenBack'>): Promise<boolean> {
  const back = store.whenBack().then(() => false);
  // `whenBack` of a store without a known fault resolves before the next turn of the event loop.
  return Promise.race([back, nextTurn(true)]);
}
