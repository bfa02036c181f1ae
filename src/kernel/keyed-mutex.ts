/**
 * Runs work under the same key one at a time, in order of arrival. Keys are only kept while they have work.
 *
 * Packages with a mutex (`async-mutex`, `p-limit`) start even uncontended work in a later microtask, and leave it to
 * their users to drop keys, which is most of this class.
 */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>();

  /**
   * Runs work when all earlier work under its key has settled; if there is none, synchronously within this call.
   * @returns what the work returns
   * @throws what the work throws; later work still runs
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

  /** Returns the number of keys with work. */
  get size(): number {
    return this.#last.size;
  }
}
