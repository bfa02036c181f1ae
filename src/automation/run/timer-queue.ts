/** Milliseconds of a timer at the most: the clock may have been set meanwhile. */
const MAX_TIMER_MS = 1_000;

/** When which system is to be looked at next, by one clock. */
export class TimerQueue {
  readonly #due: (appId: string) => void;
  readonly #clock: () => number;
  readonly #times = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  #isClosed = false;

  /**
   * @param due told once when the time of a system has come
   * @param clock in milliseconds: dates go by the clock on the wall, which may be set; pauses by one that never goes back
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

  /** Lets all come that are in it, whatever their times. */
  allAreDue(): void {
    const appIds = [...this.#times.keys()];
    this.#times.clear();
    for (const appId of appIds) this.#due(appId);
  }

  #wait(at: number): void {
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    this.#timerAt = at;
    this.#timer = setTimeout(() => this.#look(), Math.max(0, Math.min(at - this.#clock(), MAX_TIMER_MS))).unref();
  }

  #look(): void {
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
