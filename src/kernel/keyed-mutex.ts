/**
 * Runs work under the same key one after the other, in the order in which it came. Keys are kept only while there is work.
 *
 * Packages with a mutex (`async-mutex`, `p-limit`) begin even uncontended work in a later microtask, and leave it to
 * their users to forget keys, which is most of this class.
 */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>();

  /**
   * Runs work when all earlier work under its key has settled: within this call where there is none.
   * @returns what the work returns
   * @throws what the work throws; later work runs all the same
   */
  async runExclusive<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key);
    const mine = before ? before.then(work, work) : work();
    this.#last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(key) === mine) this.#last.delete(key);
    }
  }

  /** How many keys have work. */
  get size(): number {
    return this.#last.size;
  }
}
