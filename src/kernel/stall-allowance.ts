import { limits } from './limits.ts';
import { MINUTE_MS } from './time.ts';

/** Maximum duration of one pause, in milliseconds. */
export const MAX_PAUSE_MS = MINUTE_MS;
/** Maximum of all pauses of a client together, in milliseconds, beyond the time it needs at the minimum pace. */
export const MAX_STALL_MS = 600_000;

/**
 * The time that a client may keep an answer waiting, during which its snapshot of the data is held. A client that takes a little again and again
 * could hold it for hours; so what it takes only restores the time needed at the minimum pace, up to the initial allowance.
 * Reference: requests.md#long-answers.
 */
export class StallAllowance {
  readonly #longest: number;
  readonly #all: number;
  readonly #clock: () => number;
  #left: number;
  #began = 0;

  /** @param longest milliseconds of one pause */
  constructor(longest = MAX_PAUSE_MS, all = MAX_STALL_MS, clock = () => performance.now()) {
    this.#longest = longest;
    this.#all = all;
    this.#left = all;
    this.#clock = clock;
  }

  /** Starts a pause: the client was given some characters. @returns milliseconds until it has to ask for more */
  begin(characters: number): number {
    this.#left = Math.min(this.#all, this.#left + (characters / limits.minBytesPerSecond) * 1_000);
    this.#began = this.#clock();
    return Math.max(0, Math.min(this.#longest, this.#left));
  }

  /** Ends the pause: the client asks for more. */
  end(): void {
    this.#left -= this.#clock() - this.#began;
  }
}
