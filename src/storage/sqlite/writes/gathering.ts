import { FlushOverlap } from './flush-overlap.ts';

/** Maximum writes in one commit. */
const MAX_GROUP_WRITES = 500;
/** Answered writes from which their clients are expected to send their next ones. */
const MIN_ANSWERED = 4;
/** Maximum time that a group waits for these. */
const MAX_WAIT_MS = 1;
/** Maximum number of groups that do not wait after one that has waited in vain. */
const MAX_SKIPPED = 64;

/**
 * Decides how many writes a group takes, and whether it waits for more before its commit. Clients that were answered together send their next writes
 * together: without waiting, half of the clients would wait for the flush of the other half's commit, and a commit costs almost as much with half of
 * the writes.
 */
export class Gathering {
  readonly #due: () => void;
  readonly #overlap = new FlushOverlap();
  /** Clients that write at the same time, by the group that was answered last. */
  #clients = 0;
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

  /** Maximum writes of a group. */
  get limit(): number {
    return this.#overlap.isSplit && this.#clients >= 2 * MIN_ANSWERED ? Math.ceil(this.#clients / 2) : MAX_GROUP_WRITES;
  }

  /** Call when a group is committed and its flush begins. */
  committed(count: number): void {
    this.stop();
    this.#overlap.began(count);
  }

  /** Call when it was flushed and answered. @param pending the number of writes that are pending at this moment */
  answered(count: number, pending: number): void {
    this.#overlap.ended();
    this.#clients = Math.min(MAX_GROUP_WRITES, pending + count);
    this.#expected = 0;
    if (count < MIN_ANSWERED) return;
    if (this.#skip > 0) this.#skip--;
    else this.#expected = this.#clients;
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

  /** Ends the wait. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#expected = 0;
  }
}
