/** Items that wait, with a line per key: a system, a store. The keys take turns, so that a flood of one delays only its own. */
export class RoundRobin<Key, Item> {
  readonly #keyOf: (item: Item) => Key;
  /** In the order of their turns. */
  readonly #lines = new Map<Key, Item[]>();

  constructor(keyOf: (item: Item) => Key) {
    this.#keyOf = keyOf;
  }

  get isEmpty(): boolean {
    return this.#lines.size === 0;
  }

  /** Returns the keys with waiting items, in the order of their turns. */
  keys(): Iterable<Key> {
    return this.#lines.keys();
  }

  /** Returns the next item of each key, in the order of their turns. */
  heads(): Item[] {
    return [...this.#lines.values()].flatMap((line) => line.slice(0, 1));
  }

  add(item: Item): void {
    const line = this.#lines.get(this.#keyOf(item));
    if (line) line.push(item);
    else this.#lines.set(this.#keyOf(item), [item]);
  }

  /** Adds an item before the others of its key. */
  putBack(item: Item): void {
    this.#lines.set(this.#keyOf(item), [item, ...(this.#lines.get(this.#keyOf(item)) ?? [])]);
  }

  /** Takes an item out, wherever it is. */
  remove(item: Item): void {
    const key = this.#keyOf(item);
    const left = this.#lines.get(key)?.filter((other) => other !== item) ?? [];
    if (left.length > 0) this.#lines.set(key, left);
    else this.#lines.delete(key);
  }

  /** Takes out the next item of a key and moves the key to the end of the turns. */
  take(key: Key): Item | undefined {
    const line = this.#lines.get(key) ?? [];
    const first = line.shift();
    this.#lines.delete(key);
    if (line.length > 0) this.#lines.set(key, line);
    return first;
  }

  /** Takes out all items, or those of one key. */
  clear(key?: Key): Item[] {
    const all = key === undefined ? [...this.#lines.values()].flat() : (this.#lines.get(key) ?? []);
    if (key === undefined) this.#lines.clear();
    else this.#lines.delete(key);
    return all;
  }
}
