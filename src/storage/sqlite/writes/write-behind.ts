/**
 * How long work that nobody waits for is kept back at the most, in milliseconds. A commit writes whole pages, so rows at the end of a table
 * cost a tenth where many of them share one, of what they cost where a few go along with each.
 */
const FLUSH_DELAY_MS = 200;
/** Such work beyond which it is carried out at once, and the time of a commit is bounded. */
const MAX_GATHERED = 500;
/** Such work that waits, for the end of a long schema change say, beyond which further work is dropped. */
const MAX_WAITING = 10_000;

/** What the queue tells and asks. */
export interface WriteBehindEvents {
  /** The next commit is to take work along. */
  due(): void;
  /** Work is dropped. */
  dropped(): void;
  /** Resolves once the store works again after a fault that can pass; never rejects. */
  whenBack(): Promise<void>;
}

/** Work that nobody waits for, until a commit takes it along. */
export class WriteBehind {
  readonly #events: WriteBehindEvents;
  #work: (() => void)[] = [];
  /** Whether the next commit is to take it along. */
  #isDue = false;
  /** It met a fault that can pass: it waits for the end of that, and is committed apart from what clients wait for. */
  #isHeld = false;
  #isApart = false;
  #overflowing = false;
  #latest: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(events: WriteBehindEvents) {
    this.#events = events;
  }

  get isDue(): boolean {
    return this.#isDue;
  }

  /** Whether it is committed apart from what clients wait for. */
  get isApart(): boolean {
    return this.#isApart;
  }

  /** Work beyond what is kept is dropped. */
  add(work: () => void): void {
    if (this.#work.length >= MAX_WAITING) {
      if (!this.#overflowing) this.#events.dropped();
      this.#overflowing = true;
      return;
    }
    this.#work.push(work);
    if (this.#isHeld) return;
    if (this.#work.length >= MAX_GATHERED) this.#due();
    else this.#latest ??= setTimeout(() => this.#due(), FLUSH_DELAY_MS);
  }

  #due(): void {
    this.takeAlong();
    this.#events.due();
  }

  /** The next commit takes along what there is, unless that is held. */
  takeAlong(): void {
    this.#isDue = this.#work.length > 0 && !this.#isHeld;
  }

  /** The next commit does not. */
  leave(): void {
    this.#isDue = false;
  }

  /** What the commit that has begun takes along. */
  take(): (() => void)[] {
    if (!this.#isDue) return [];
    const taken = this.#work.slice(0, MAX_GATHERED);
    this.#work = this.#work.slice(MAX_GATHERED);
    if (this.#work.length > 0) return taken;
    this.#isDue = false;
    this.#overflowing = false;
    this.#stopTimer();
    return taken;
  }

  /** What was taken is durable. */
  done(): void {
    if (this.#work.length === 0) this.#isApart = false;
  }

  /** Keeps what was taken, and all else, until the store is back. */
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

  /** It is tried again, whether the store is back or not. */
  release(): void {
    this.#isHeld = false;
  }

  /** Drops what is left. */
  close(): void {
    this.#closed = true;
    if (this.#work.length > 0) this.#events.dropped();
    this.#stopTimer();
  }

  #stopTimer(): void {
    clearTimeout(this.#latest);
    this.#latest = undefined;
  }
}
