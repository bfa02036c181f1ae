import { fail } from '../../../errors/fail.ts';

/** Guards the record access of one run: allowed until the time limit, and until the function has ended. */
export class RunGuard {
  readonly #abort = new AbortController();
  #isTimedOut = false;
  #hasEnded = false;
  /** Whether the run has written anything. */
  hasWritten = false;
  /** Number of writes in progress. */
  writing = 0;

  /** Aborted at the time limit. The function receives it and may tamper with it, so the guard does not rely on it. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Whether the run may have changed records. */
  get mayHaveWritten(): boolean {
    return this.hasWritten || this.writing > 0;
  }

  get isTimedOut(): boolean {
    return this.#isTimedOut;
  }

  /**
   * Ends the run at the time limit. Executes listeners of the function on its signal.
   * @param reason passed to the signal
   */
  timeOut(reason: Error): void {
    this.#isTimedOut = true;
    this.#abort.abort(reason);
  }

  /** Marks the function as ended. */
  end(): void {
    this.#hasEnded = true;
  }

  /** @throws functionTimeout; functionFailed if the function has ended before */
  check(): void {
    if (this.#isTimedOut) fail('functionTimeout');
    if (this.#hasEnded) fail('functionFailed', 'The function has ended: it has to wait for what it starts.');
  }
}
