export interface LoopShareSettings {
  /** Milliseconds per turn of the event loop. */
  readonly maxMsPerTurn: number;
  /** A monotonic clock in milliseconds. */
  readonly clock?: () => number;
  /** Calls back after the current turn of the event loop. */
  readonly afterTurn?: (turned: () => void) => void;
}

/**
 * Limits the time that one kind of work may take per turn of the event loop, for all systems together. Work split into chunks asks before each chunk
 * and waits for a later turn if this turn's share is used up. Waiting systems are served round-robin.
 */
export class LoopShare {
  readonly #maxMsPerTurn: number;
  readonly #clock: () => number;
  readonly #afterTurn: (turned: () => void) => void;
  /** Waiting callers by system, in scheduling order. */
  readonly #lines = new Map<unknown, (() => void)[]>();
  #spent = 0;
  #isAwaited = false;

  constructor({
    maxMsPerTurn,
    clock = () => performance.now(),
    afterTurn = (turned) => void setImmediate(turned),
  }: LoopShareSettings) {
    this.#maxMsPerTurn = maxMsPerTurn;
    this.#clock = clock;
    this.#afterTurn = afterTurn;
  }

  /** Whether the share of the current turn is used up. */
  get isSpent(): boolean {
    return this.#spent >= this.#maxMsPerTurn;
  }

  /** Counts work of a known duration. @param length milliseconds */
  charge(length: number): void {
    this.#spent += length;
    this.#await();
  }

  /** Runs a synchronous chunk of work and counts its duration. If it returns a promise, the time after the return does not count. */
  spend<T>(work: () => T): T {
    const began = this.#clock();
    try {
      return work();
    } finally {
      this.charge(this.#clock() - began);
    }
  }

  /** Resolves when the next piece may be done: at once, or in its turn. */
  async waitForTurn(system: unknown): Promise<void> {
    if (!this.isSpent) return;
    await new Promise<void>((resolve) => {
      const line = this.#lines.get(system);
      if (line) line.push(resolve);
      else this.#lines.set(system, [resolve]);
    });
  }

  /** Runs a synchronous chunk of work in its turn, and counts its duration. */
  async inTurn<T>(system: unknown, work: () => T): Promise<T> {
    // Work that may begin at once begins before others can ask.
    if (this.isSpent) await this.waitForTurn(system);
    return this.spend(work);
  }

  #await(): void {
    if (this.#isAwaited) return;
    this.#isAwaited = true;
    this.#afterTurn(() => this.#turned());
  }

  /** Releases one waiting caller per turn, because the duration of its chunk is not known in advance. */
  #turned(): void {
    this.#isAwaited = false;
    this.#spent = 0;
    for (const [system, line] of this.#lines) {
      const next = line.shift();
      this.#lines.delete(system);
      if (line.length > 0) this.#lines.set(system, line);
      if (this.#lines.size > 0) this.#await();
      next?.();
      return;
    }
  }
}
