import { isInDoubt } from '../../../errors/fail.ts';
import { causeOf, ofRead, unavailable } from '../connection/map-error.ts';

/** How long what was looked at counts as current where notices of other processes do not come, in milliseconds. */
const FRESH_MS = 250;

const current = Promise.resolve();

/**
 * Keeps what a process remembers of the database current. While notices of other processes come for certain nothing is done; else the
 * database is looked at before a request, once for all that ask at the same time, and every quarter of a second at the most.
 */
export class StalenessCheck {
  readonly #isSound: () => boolean;
  readonly #look: () => Promise<void>;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | undefined;
  #distrusted = false;

  /**
   * @param isSound whether notices come for certain
   * @param look reads what other processes may have changed
   */
  constructor(isSound: () => boolean, look: () => Promise<void>) {
    this.#isSound = isSound;
    this.#look = look;
  }

  /** Something may have been missed: the next request looks, whatever the notices. */
  distrust(): void {
    this.#distrusted = true;
  }

  /** Whether nothing has to be looked at; not before a look that is under way has ended. */
  isCurrent(): boolean {
    if (this.#distrusted || this.#looking) return false;
    return this.#isSound() || performance.now() - this.#lookedAt < FRESH_MS;
  }

  /** Waits for what has to be looked at first. @throws what `look` throws */
  whenCurrent(): Promise<void> {
    if (this.isCurrent()) return current;
    this.#looking ??= this.#lookAnew().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #lookAnew(): Promise<void> {
    // Requests that came while it looked wait too: what was distrusted meanwhile may not have been seen.
    do {
      const began = performance.now();
      this.#distrusted = false;
      try {
        await this.#look();
      } catch (error) {
        this.#distrusted = true;
        // A look writes nothing that could be in doubt.
        throw isInDoubt(error) ? unavailable((error as Error).cause) : ofRead(causeOf(error));
      }
      this.#lookedAt = began;
    } while (this.#distrusted);
  }
}
