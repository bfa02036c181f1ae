import { MINUTE_MS } from '../../kernel/time.ts';

/** Lets one loop wait until somebody has something for it. What comes while it does not wait is not lost. */
export class AutoResetEvent {
  #isSet = false;
  #wake: (() => void) | undefined;

  set(): void {
    this.#isSet = true;
    this.#wake?.();
  }

  /** @param atMost milliseconds; `null`: until it is set */
  async wait(atMost: number | null): Promise<void> {
    if (!this.#isSet && (atMost === null || atMost > 0)) {
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        if (atMost !== null) timer = setTimeout(resolve, Math.min(atMost, MINUTE_MS));
      });
      this.#wake = undefined;
      clearTimeout(timer);
    }
    this.#isSet = false;
  }
}
