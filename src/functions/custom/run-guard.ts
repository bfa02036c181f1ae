import { fail } from '../../errors/fail.ts';

/** Whether a run of a function may still work with records: until its time is up, and until it has ended. */
export class Gate {
  readonly #abort = new AbortController();
  #isGivenUp = false;
  #hasEnded = false;
  /** Whether it has written anything. */
  hasWritten = false;
  /** Writes of it that are under way. */
  writing = 0;

  /** Aborted when the time is up. It is the function's, and not asked here. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Whether nobody may be told that nothing was done. */
  get mayHaveWritten(): boolean {
    return this.hasWritten || this.writing > 0;
  }

  get isGivenUp(): boolean {
    return this.#isGivenUp;
  }

  /**
   * The time is up. Runs what the function has waiting for its signal.
   * @param reason what those see who wait
   */
  giveUp(reason: Error): void {
    this.#isGivenUp = true;
    this.#abort.abort(reason);
  }

  /** The function has answered, or failed. */
  end(): void {
    this.#hasEnded = true;
  }

  /** @throws functionTimeout, functionFailed where the function has ended before */
  check(): void {
    if (this.#isGivenUp) fail('functionTimeout');
    if (this.#hasEnded) fail('functionFailed', 'The function has ended: it has to wait for what it starts.');
  }
}
