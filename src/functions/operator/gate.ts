import { fail } from '../../errors/fail.ts';

/** Whether a run of a function may still work with records: until its time is up, and until it has ended. */
export class Gate {
  readonly #abort = new AbortController();
  #hasEnded = false;

  /** Aborted when the time is up. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** The time is up. @param reason what those see who wait for the signal */
  giveUp(reason: Error): void {
    this.#abort.abort(reason);
  }

  /** The function has answered, or failed. */
  end(): void {
    this.#hasEnded = true;
  }

  /** @throws functionTimeout, functionFailed where the function has ended before */
  check(): void {
    if (this.signal.aborted) fail('functionTimeout');
    if (this.#hasEnded) fail('functionFailed', 'The function has ended: it has to wait for what it starts.');
  }
}
