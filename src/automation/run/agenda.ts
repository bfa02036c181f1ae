/** Timers take no longer time; and clocks are set now and then. */
const LONGEST = 3_600_000;

/** When which system is to be looked at next. */
export class Agenda {
  readonly #due: (appId: string) => void;
  readonly #times = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  #isClosed = false;

  /** @param due told once when the time of a system has come */
  constructor(due: (appId: string) => void) {
    this.#due = due;
  }

  /** @param at milliseconds since 1970; `null`: never */
  set(appId: string, at: number | null): void {
    if (at === null) this.#times.delete(appId);
    else this.#times.set(appId, at);
    if (at !== null && at < this.#timerAt) this.#wait(at);
  }

  #wait(at: number): void {
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    this.#timerAt = at;
    this.#timer = setTimeout(() => this.#look(), Math.max(0, Math.min(at - Date.now(), LONGEST))).unref();
  }

  #look(): void {
    this.#timerAt = Number.POSITIVE_INFINITY;
    const now = Date.now();
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
