import { limits } from '../../kernel/limits.ts';
import { StallAllowance } from '../../kernel/stall-allowance.ts';

/**
 * Pieces whose client is given up where it keeps them waiting: what they come from is held as long. Not a generator: one that was never begun
 * would not hear that it is returned.
 */
export class AwaitedPieces implements AsyncIterableIterator<string> {
  readonly #pieces: AsyncIterator<string>;
  readonly #giveUp: () => void;
  readonly #pauses: StallAllowance;
  #pause: NodeJS.Timeout | undefined;
  /** Characters of the last piece. */
  #last = 0;

  /** @param giveUp called where the client has not asked for the next piece in time; it has them returned */
  constructor(pieces: AsyncIterable<string>, giveUp: () => void, pauses = new StallAllowance()) {
    this.#pieces = pieces[Symbol.asyncIterator]();
    this.#giveUp = giveUp;
    this.#pauses = pauses;
  }

  async next(): Promise<IteratorResult<string>> {
    this.#endPause();
    const piece = await this.#pieces.next();
    if (piece.done) return piece;
    const { length } = piece.value;
    // The piece before may still be on its way. Where both are long, even the least pace takes longer than a pause may.
    const neededMs = ((this.#last + length) / limits.leastPace) * 1_000;
    this.#last = length;
    this.#pause = setTimeout(this.#giveUp, Math.max(neededMs, this.#pauses.begin(length))).unref();
    return piece;
  }

  async return(): Promise<IteratorResult<string>> {
    this.#endPause();
    await this.#pieces.return?.();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #endPause(): void {
    if (!this.#pause) return;
    clearTimeout(this.#pause);
    this.#pause = undefined;
    this.#pauses.end();
  }
}
