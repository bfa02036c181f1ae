/** Work that is done one after the other where it has the same key. Keys are kept only while there is work. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Does the work when all work of the key that came before is done, well or not. At once where there is none. */
  async take<T>(key: string, work: () => Promise<T>): Promise<T> {
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

/** Turns of several owners, each with keys of its own; they last as long as their owner. */
export class TurnsOf {
  readonly #turns = new WeakMap<object, Turns>();

  /** Does the work in its turn among those of the owner, as `Turns` does. */
  take<T>(owner: object, key: string, work: () => Promise<T>): Promise<T> {
    const turns = this.#turns.get(owner) ?? new Turns();
    this.#turns.set(owner, turns);
    return turns.take(key, work);
  }
}
