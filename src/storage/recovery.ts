import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import type { Store } from './port.ts';

/** Milliseconds between two looks at a store that does not work: what waits for it goes on within two seconds of the end of an outage. */
const LOOK_MS = 500;
/** Looks in a row at a store that works, while others go on to meet faults, after which it counts as back. */
const MAX_LOOKS = 3;

/**
 * Knows whether a store works after a fault that can pass (CONTRACT "Faults of the store"). While it does not, it is tried now and then, once
 * for all that wait; clients' requests try it by themselves.
 */
export class Recovery {
  readonly #works: () => Promise<void>;
  readonly #onBack: () => void;
  #looking: Promise<void> | undefined;
  /** How often a fault was met. */
  #count = 0;
  #isClosed = false;

  /**
   * @param works rejects where the store does not answer a read and take a write
   * @param onBack told when it works again
   */
  constructor(works: () => Promise<void>, onBack: () => void = () => {}) {
    this.#works = works;
    this.#onBack = onBack;
  }

  /** Whether a fault was met and the store has not been seen to work since. */
  get isAway(): boolean {
    return this.#looking !== undefined;
  }

  /** A fault that can pass was met. */
  met(): void {
    if (this.#isClosed) return;
    this.#count++;
    this.#looking ??= this.#look();
  }

  /** Resolves once the store works; at once where nothing else is known. Never rejects. */
  whenBack(): Promise<void> {
    return this.#looking ?? Promise.resolve();
  }

  async #look(): Promise<void> {
    let worked = 0;
    while (!this.#isClosed) {
      await wait(LOOK_MS, undefined, { ref: false });
      if (this.#isClosed) break;
      try {
        const count = this.#count;
        await this.#works();
        // One that was met meanwhile may have been met after the store was seen to work; what is met all the time is somebody's own.
        if (count === this.#count || ++worked === MAX_LOOKS) break;
      } catch {
        worked = 0;
      }
    }
    this.#looking = undefined;
    if (!this.#isClosed) this.#onBack();
  }

  /** Looks no more; what waits goes on. */
  close(): void {
    this.#isClosed = true;
  }
}

/** Whether a store is known to be away: it met a fault that can pass, and has not been seen to work since. */
export function isAway(store: Pick<Store, 'whenBack'>): Promise<boolean> {
  const back = store.whenBack().then(() => false);
  // One of which no fault is known answers before the next turn.
  return Promise.race([back, nextTurn(true)]);
}
