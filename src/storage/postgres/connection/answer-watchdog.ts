/** What a connection does: it expects an answer, does not read for now, or expects none. */
type Activity = 'waiting' | 'paused' | 'idle';

/** Checks periodically whether the answers of a connection still arrive: a server whose machine is gone closes nothing. */
export class AnswerWatchdog {
  /** When the answer that is expected began to be, by `performance.now()`. */
  waitingSince = 0;
  #timeoutMs: number;
  /** Bytes that the operating system had not yet accepted at the last check, and when that number last changed. */
  #unsent = 0;
  #sentAt = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly #activity: () => Activity;
  readonly #onTimeout: () => void;

  /**
   * @param timeoutMs milliseconds without any answer after which the connection counts as lost; 0: never
   * @param onTimeout called when it does
   */
  constructor(timeoutMs: number, activity: () => Activity, onTimeout: () => void) {
    this.#timeoutMs = timeoutMs;
    this.#activity = activity;
    this.#onTimeout = onTimeout;
  }

  /** Changes the timeout. */
  set timeoutMs(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
    if (this.#activity() === 'idle') return;
    this.stop();
    this.start();
  }

  /** Watches until no answer is expected. */
  start(): void {
    if (this.#timeoutMs === 0 || this.#timer) return;
    const delayMs = Math.max(100, this.waitingSince + this.#timeoutMs - performance.now());
    this.#timer = setTimeout(() => this.#check(), delayMs).unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /**
   * Milliseconds for which an expected answer has not arrived; 0 if none is expected. Time spent sending counts twice.
   * @param lastReceivedAt when data last arrived
   * @param unsent bytes that the operating system has not yet accepted
   */
  silentFor(lastReceivedAt: number, unsent: number): number {
    if (this.#activity() !== 'waiting') return 0;
    const now = performance.now();
    if (unsent !== this.#unsent) this.#sentAt = now;
    this.#unsent = unsent;
    const since = Math.max(lastReceivedAt, this.waitingSince);
    const sending = Math.max(0, this.#sentAt - since);
    return Math.max(0, now - since - 2 * sending);
  }

  #check(): void {
    this.#timer = undefined;
    if (this.#activity() === 'paused') this.waitingSince = performance.now();
    // Check after pending input: after a stall of this process, answers may have arrived unread.
    setImmediate(() => {
      if (this.#timeoutMs === 0 || this.#activity() === 'idle') return;
      if (performance.now() - this.waitingSince < this.#timeoutMs) this.start();
      else this.#onTimeout();
    });
  }
}
