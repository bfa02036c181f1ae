import type { Store } from '../../storage/port.ts';

/** Milliseconds for which what was seen of the other processes counts. */
const FRESH_MS = 1_000;

/** The processes that serve the same systems, as this one sees them: they are the same for all its systems. */
export class LiveProcesses {
  readonly #clock: () => number;
  #alive: ReadonlySet<string> = new Set();
  #seenAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<ReadonlySet<string>> | undefined;
  /** Since when a process that has left rows behind is missing. */
  readonly #missing = new Map<string, number>();
  #losses = 0;

  /** @param clock in milliseconds, never going back */
  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
  }

  /** How many processes were there at one look and missing at the next, so far. */
  get losses(): number {
    return this.#losses;
  }

  /** The processes that are there, as of a second ago at the most. @throws unavailable */
  async alive(store: Store): Promise<ReadonlySet<string>> {
    if (this.#clock() - this.#seenAt < FRESH_MS) return this.#alive;
    this.#looking ??= this.#look(store).finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #look(store: Store): Promise<ReadonlySet<string>> {
    const alive = await store.cluster.processes();
    for (const one of this.#alive) if (!alive.has(one)) this.#losses++;
    for (const one of alive) this.#missing.delete(one);
    this.#alive = alive;
    this.#seenAt = this.#clock();
    return alive;
  }

  /** Whether other processes serve the systems. @throws unavailable */
  async areOthers(store: Store): Promise<boolean> {
    return (await this.alive(store)).size > 1;
  }

  /**
   * Those of some processes that are gone: missing at two looks that lie a second apart, since one whose connection broke is back soon.
   * @throws unavailable
   */
  async gone(store: Store, names: Iterable<string>): Promise<string[]> {
    const alive = await this.alive(store);
    const gone: string[] = [];
    for (const name of names) {
      if (alive.has(name)) continue;
      const since = this.#missing.get(name);
      if (since === undefined) this.#missing.set(name, this.#seenAt);
      else if (this.#seenAt - since >= FRESH_MS) gone.push(name);
    }
    return gone;
  }
}
