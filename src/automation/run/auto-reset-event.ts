import { MINUTE_MS } from '../../kernel/time.ts';

/** Lets one loop wait for a signal. A signal that arrives while the loop does not wait is kept. */
export class AutoResetEvent {
  #isSet = false;
  #wake: (() => void) | undefined;

  set(): void {
    this.#isSet = true;
    this.#wake?.();
  }

  /** @param maxMs milliseconds; `null`: no timeout */
  async wait(maxMs: number | null): Promise<void> {
    if (!this.#isSet && (maxMs === null || maxMs > 0)) {
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        if (maxMs !== null) timer = setTimeout(resolve, Math.min(maxMs, MINUTE_MS));
      });
      this.#wake = undefined;
      clearTimeout(timer);
    }
    this.#isSet = false;
  }
}
