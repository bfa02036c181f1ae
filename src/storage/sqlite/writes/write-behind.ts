/**
 * Maximum delay of write-behind work. A commit writes whole pages, so rows at the end of a table that share one page cost a tenth of what they cost
 * when added a few per commit.
 */
const FLUSH_DELAY_MS = 200;
/** Number of pending works that triggers a commit; it also limits the duration of the commit. */
const BATCH_SIZE = 500;
/** Maximum pending works, e.g. during a long schema change. Further work is dropped. */
const MAX_PENDING = 10_000;

/** Callbacks of the queue. */
export interface WriteBehindEvents {
  /** The next commit shall include the work. */
  due(): void;
  /** Work is being dropped. */
  dropped(): void;
  /** Resolves once the store works again after a transient fault; never rejects. */
  whenBack(): Promise<void>;
}

/** Queue of work that no caller waits for, until a commit includes it. */
export class WriteBehind {
  readonly #events: WriteBehindEvents;
  #work: (() => void)[] = [];
  /** Whether the next commit shall include it. */
  #isDue = false;
  /** `#isHeld`: it met a transient fault and waits for its end. `#isApart`: it is committed separately from what clients wait for. */
  #isHeld = false;
  #isApart = false;
  #overflowing = false;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(events: WriteBehindEvents) {
    this.#events = events;
  }

  get isDue(): boolean {
    return this.#isDue;
  }

  /** Whether it is committed separately from what clients wait for. */
  get isApart(): boolean {
    return this.#isApart;
  }

  /** Adds work; beyond the limit it is dropped. */
  add(work: () => void): void {
    if (this.#work.length >= MAX_PENDING) {
      if (!this.#overflowing) this.#events.dropped();
      this.#overflowing = true;
      return;
    }
    this.#work.push(work);
    if (this.#isHeld) return;
    if (this.#work.length >= BATCH_SIZE) this.#due();
    else this.#timer ??= setTimeout(() => this.#due(), FLUSH_DELAY_MS);
  }

  #due(): void {
    this.takeAlong();
    this.#events.due();
  }

  /** Makes the next commit include the pending work, unless it is held. */
  takeAlong(): void {
    this.#isDue = this.#work.length > 0 && !this.#isHeld;
  }

  /** Excludes the work from the next commit. */
  leave(): void {
    this.#isDue = false;
  }

  /** Takes out the work for the commit that has begun. */
  take(): (() => void)[] {
    if (!this.#isDue) return [];
    const taken = this.#work.slice(0, BATCH_SIZE);
    this.#work = this.#work.slice(BATCH_SIZE);
    if (this.#work.length > 0) return taken;
    this.#isDue = false;
    this.#overflowing = false;
    this.#stopTimer();
    return taken;
  }

  /** Call when the taken work is durable. */
  done(): void {
    if (this.#work.length === 0) this.#isApart = false;
  }

  /** Holds the taken work and all other until the store is back. */
  hold(taken: readonly (() => void)[]): void {
    this.#work = [...taken, ...this.#work];
    this.#stopTimer();
    this.#isDue = false;
    if (this.#work.length === 0) return;
    this.#isApart = true;
    if (this.#isHeld) return;
    this.#isHeld = true;
    void this.#events.whenBack().then(() => {
      this.#isHeld = false;
      if (!this.#closed && this.#work.length > 0) this.#due();
    });
  }

  /** Allows another attempt, whether the store is back or not. */
  release(): void {
    this.#isHeld = false;
  }

  /** Drops the remaining work. */
  close(): void {
    this.#closed = true;
    if (this.#work.length > 0) this.#events.dropped();
    this.#stopTimer();
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
