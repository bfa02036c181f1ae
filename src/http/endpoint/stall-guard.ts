import { limits } from '../../kernel/limits.ts';
import { StallAllowance } from '../../kernel/stall-allowance.ts';

/**
 * Pieces of an answer, abandoned when the client takes them too slowly, because their source (e.g. a read snapshot) stays open meanwhile. Not a
 * generator: a generator that was never started would not notice `return`.
 */
export class StallGuardedPieces implements AsyncIterableIterator<string> {
  readonly #pieces: AsyncIterator<string>;
  readonly #giveUp: () => void;
  readonly #allowance: StallAllowance;
  #stallTimer: NodeJS.Timeout | undefined;
  /** Length of the last piece in characters. */
  #lastLength = 0;

  /** @param giveUp called when the client has not taken the next piece in time; it must end the pieces */
  constructor(pieces: AsyncIterable<string>, giveUp: () => void, allowance = new StallAllowance()) {
    this.#pieces = pieces[Symbol.asyncIterator]();
    this.#giveUp = giveUp;
    this.#allowance = allowance;
  }

  async next(): Promise<IteratorResult<string>> {
    this.#endStall();
    const piece = await this.#pieces.next();
    if (piece.done) return piece;
    const { length } = piece.value;
    // The piece before may still be in transit. Two long pieces need longer at the minimum pace than the stall allowance grants.
    const neededMs = ((this.#lastLength + length) / limits.minBytesPerSecond) * 1_000;
    this.#lastLength = length;
    this.#stallTimer = setTimeout(this.#giveUp, Math.max(neededMs, this.#allowance.begin(length))).unref();
    return piece;
  }

  async return(): Promise<IteratorResult<string>> {
    this.#endStall();
    await this.#pieces.return?.();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #endStall(): void {
    if (!this.#stallTimer) return;
    clearTimeout(this.#stallTimer);
    this.#stallTimer = undefined;
    this.#allowance.end();
  }
}
