/** How a share of the event loop is measured. */
export interface LoopShareSettings {
  /** Milliseconds of each turn of the loop. */
  readonly most: number;
  /** Milliseconds that never go back. */
  readonly clock?: () => number;
  /** Calls back when the loop has turned. */
  readonly afterTurn?: (turned: () => void) => void;
}

/**
 * The part of each turn of the event loop that work of a kind may take, for all systems together. Work that comes in pieces asks before each
 * of them, and waits for a later turn where this one's share is used up: one of each system in turn.
 */
export class LoopShare {
  readonly #most: number;
  readonly #clock: () => number;
  readonly #afterTurn: (turned: () => void) => void;
  /** Those that wait, by system, in the order of their turns. */
  readonly #lines = new Map<unknown, (() => void)[]>();
  #spent = 0;
  #isAwaited = false;

  constructor({ most, clock = () => performance.now(), afterTurn = (turned) => void setImmediate(turned) }: LoopShareSettings) {
    this.#most = most;
    this.#clock = clock;
    this.#afterTurn = afterTurn;
  }

  /** Whether the present turn has had its share. */
  get isSpent(): boolean {
    return this.#spent >= this.#most;
  }

  /** Counts work of a known length. @param length milliseconds */
  charge(length: number): void {
    this.#spent += length;
    this.#await();
  }

  /** Does a piece of work, and counts it. What it does later, where it is a promise, does not count. */
  spend<T>(work: () => T): T {
    const began = this.#clock();
    try {
      return work();
    } finally {
      this.charge(this.#clock() - began);
    }
  }

  /** Resolves when the next piece may be done: at once, or in its turn. */
  async pass(system: unknown): Promise<void> {
    if (!this.isSpent) return;
    await new Promise<void>((resolve) => {
      const line = this.#lines.get(system);
      if (line) line.push(resolve);
      else this.#lines.set(system, [resolve]);
    });
  }

  #await(): void {
    if (this.#isAwaited) return;
    this.#isAwaited = true;
    this.#afterTurn(() => this.#turned());
  }

  /** One goes on at a time: how long it takes is not known before. */
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
