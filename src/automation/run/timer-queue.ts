/** Maximum duration of a timer, since the clock may be set meanwhile. */
const MAX_TIMER_MS = 1_000;

/** Calls back for systems at their due times, measured by one clock. */
export class TimerQueue {
  readonly #due: (appId: string) => void;
  readonly #clock: () => number;
  readonly #times = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  #isClosed = false;

  /**
   * @param due called once when the time of a system has come
   * @param clock milliseconds: the wall clock for dates, which may be set; a monotonic clock for delays
   */
  constructor(due: (appId: string) => void, clock: () => number) {
    this.#due = due;
    this.#clock = clock;
  }

  /** @param at by the clock; `null`: never */
  set(appId: string, at: number | null): void {
    if (at === null) this.#times.delete(appId);
    else this.#times.set(appId, at);
    if (at !== null && at < this.#timerAt) this.#wait(at);
  }

  /** Makes all systems due now. */
  fireAll(): void {
    const appIds = [...this.#times.keys()];
    this.#times.clear();
    for (const appId of appIds) this.#due(appId);
  }

  #wait(at: number): void {
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    this.#timerAt = at;
    this.#timer = setTimeout(() => this.#fireDue(), Math.max(0, Math.min(at - this.#clock(), MAX_TIMER_MS))).unref();
  }

  #fireDue(): void {
    this.#timerAt = Number.POSITIVE_INFINITY;
    const now = this.#clock();
    let next = Number.POSITIVE_INFINITY;
    for (const [appId, at] of this.#times) {
      if (at > now) next = Math.min(next, at);
      else {
        this.#times.delete(appId);
        this.#due(appId);
      }
    }
    if (next < this.#timerAt) this.#wait(next);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }
}
