import { limits } from './limits.ts';
import { MINUTE_MS } from './time.ts';

/** Milliseconds of one pause. */
const MAX_PAUSE_MS = MINUTE_MS;
/** Milliseconds of all pauses of a client together, beyond what it takes at the least pace. */
const MAX_STALL_MS = 600_000;

/**
 * The time that a client lets an answer wait, whose snapshot of the data is held as long. One that takes a little of it again and again would
 * hold it for hours; so what it takes gives back the time that it needs at the least pace, and no more than there was at first.
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

  /** The client has been handed so many characters. @returns milliseconds that it may take until it asks for more */
  begin(characters: number): number {
    this.#left = Math.min(this.#all, this.#left + (characters / limits.leastPace) * 1_000);
    this.#began = this.#clock();
    return Math.max(0, Math.min(this.#longest, this.#left));
  }

  /** It asks for more. */
  end(): void {
    this.#left -= this.#clock() - this.#began;
  }
}
