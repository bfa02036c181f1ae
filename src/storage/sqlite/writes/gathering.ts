/** Answered writes from which their clients are expected to send their next ones. */
const MIN_ANSWERED = 4;
/** Maximum time that a group waits for these. */
const MAX_WAIT_MS = 1;
/** Maximum number of groups that do not wait after one that has waited in vain. */
const MAX_SKIPPED = 64;

/**
 * Decides whether a group waits for more writes before its commit. Clients that were answered together send their next writes together: without
 * waiting, half of the clients would wait for the flush of the other half's commit, and a commit costs almost as much with half of the writes.
 */
export class Gathering {
  readonly #due: () => void;
  #expected = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Groups that do not wait, and how many it will be after the next wait in vain. */
  #skip = 0;
  #nextSkip = 1;

  /** @param due called when the wait is over */
  constructor(due: () => void) {
    this.#due = due;
  }

  /** Whether a group is waiting. */
  get isWaiting(): boolean {
    return this.#timer !== undefined;
  }

  /** Call when writes were answered. @param pending the number of those that are pending at this moment */
  answered(count: number, pending: number): void {
    this.#expected = 0;
    if (count < MIN_ANSWERED) return;
    if (this.#skip > 0) this.#skip--;
    else this.#expected = pending + count;
  }

  /** Returns whether a group of this many writes shall wait. */
  shouldWait(count: number): boolean {
    if (count < this.#expected) {
      this.#timer ??= setTimeout(() => this.#end(), MAX_WAIT_MS);
      return true;
    }
    if (this.#expected > 0) this.#nextSkip = 1;
    this.stop();
    return false;
  }

  #end(): void {
    this.#skip = this.#nextSkip;
    this.#nextSkip = Math.min(MAX_SKIPPED, 2 * this.#nextSkip);
    this.stop();
    this.#due();
  }

  /** Call when a group is committed or undone. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#expected = 0;
  }
}
