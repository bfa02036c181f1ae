import { setTimeout as delay } from 'node:timers/promises';

/** Milliseconds until a statement that was cancelled and still runs is cancelled again: where it had not begun, that was passed over. */
const CANCEL_AGAIN_MS = 50;

/** Ends the statement that a connection is at, once a signal says so. */
export class Cancelling {
  readonly #until: AbortSignal;
  readonly #cancel: () => Promise<unknown>;
  #work: Promise<void> | undefined;
  #isOver = false;

  /** @param cancel asks the database for it */
  constructor(until: AbortSignal, cancel: () => Promise<unknown>) {
    this.#until = until;
    this.#cancel = cancel;
    until.addEventListener('abort', this.#begin, { once: true });
  }

  /** The statement has ended. Resolves when nothing is asked for any more that would end the next one. */
  async over(): Promise<void> {
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
      if (!this.#isOver) await delay(CANCEL_AGAIN_MS);
    }
  }
}
