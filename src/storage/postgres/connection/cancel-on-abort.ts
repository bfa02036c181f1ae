import { setTimeout as delay } from 'node:timers/promises';

/** Milliseconds until a statement that is still running is cancelled again. A cancellation that arrives before the statement starts has no effect. */
const CANCEL_RETRY_MS = 50;

/** Cancels the statement that is running on a connection when a signal is aborted. */
export class CancelOnAbort {
  readonly #until: AbortSignal;
  readonly #cancel: () => Promise<unknown>;
  #work: Promise<void> | undefined;
  #isOver = false;

  /** @param cancel sends a cancellation to the database */
  constructor(until: AbortSignal, cancel: () => Promise<unknown>) {
    this.#until = until;
    this.#cancel = cancel;
    until.addEventListener('abort', this.#begin, { once: true });
  }

  /** Must be called after the statement ends. Resolves when no cancellation is pending that could hit the next statement. */
  async finish(): Promise<void> {
    this.#isOver = true;
    this.#until.removeEventListener('abort', this.#begin);
    await this.#work;
  }

  #begin = (): void => {
    this.#work = this.#repeat();
  };

  async #repeat(): Promise<void> {
    while (!this.#isOver) {
      await this.#cancel().catch(() => {});
      if (!this.#isOver) await delay(CANCEL_RETRY_MS);
    }
  }
}
