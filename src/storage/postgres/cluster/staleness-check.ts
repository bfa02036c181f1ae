import { isInDoubt } from '../../../errors/fail.ts';
import { causeOf, mapReadError, unavailable } from '../connection/map-error.ts';

/** Milliseconds for which a refresh counts as current while notifications are unreliable. */
const FRESH_MS = 250;

const current = Promise.resolve();

/**
 * Keeps a process's cached state of the database current. While notifications of other processes are reliable, it does nothing; otherwise it
 * refreshes before a request, once for all concurrent requests, and at most once in `FRESH_MS`.
 */
export class StalenessCheck {
  readonly #isReliable: () => boolean;
  readonly #refresh: () => Promise<void>;
  #refreshedAt = Number.NEGATIVE_INFINITY;
  #refreshing: Promise<void> | undefined;
  #isStale = false;

  /**
   * @param isReliable whether notifications are reliable
   * @param refresh reads what other processes may have changed
   */
  constructor(isReliable: () => boolean, refresh: () => Promise<void>) {
    this.#isReliable = isReliable;
    this.#refresh = refresh;
  }

  /** Forces a refresh before the next request, even if notifications are reliable. */
  markStale(): void {
    this.#isStale = true;
  }

  /** Whether the cached state may be used without a refresh. False while a refresh is running. */
  isCurrent(): boolean {
    if (this.#isStale || this.#refreshing) return false;
    return this.#isReliable() || performance.now() - this.#refreshedAt < FRESH_MS;
  }

  /** Waits for a refresh if one is needed. @throws what `refresh` throws, mapped as an error of a read */
  whenCurrent(): Promise<void> {
    if (this.isCurrent()) return current;
    this.#refreshing ??= this.#refreshUntilCurrent().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #refreshUntilCurrent(): Promise<void> {
    // Requests that arrive during a refresh wait too. Repeat if `markStale` was called meanwhile: this refresh may not have seen that change.
    do {
      const began = performance.now();
      this.#isStale = false;
      try {
        await this.#refresh();
      } catch (error) {
        this.#isStale = true;
        // A refresh writes nothing, so its outcome cannot be in doubt.
        throw isInDoubt(error) ? unavailable((error as Error).cause) : mapReadError(causeOf(error));
      }
      this.#refreshedAt = began;
    } while (this.#isStale);
  }
}
