/** Queue of reads that wait for a thread, with a line per store. The stores take turns, so that a flood of reads of one delays only its own. */
export class FairQueue<T extends { readonly path: string }> {
  /** By store, in the order of their turns. */
  readonly #lines = new Map<string, T[]>();

  add(read: T): void {
    const line = this.#lines.get(read.path);
    if (line) line.push(read);
    else this.#lines.set(read.path, [read]);
  }

  remove(read: T): void {
    const left = this.#lines.get(read.path)?.filter((other) => other !== read) ?? [];
    if (left.length > 0) this.#lines.set(read.path, left);
    else this.#lines.delete(read.path);
  }

  /**
   * Returns the store whose turn it is: among those with the fewest active reads, the one whose last turn was longest ago.
   * @param maxAtWork maximum active reads of one store
   */
  turn(atWork: (path: string) => number, maxAtWork: number): string | undefined {
    let turn: string | undefined;
    let fewest = maxAtWork;
    for (const path of this.#lines.keys()) {
      const busy = atWork(path);
      if (busy >= fewest) continue;
      turn = path;
      fewest = busy;
    }
    return turn;
  }

  /** Takes out a store's next read and moves the store to the end of the turns. */
  take(path: string): T | undefined {
    const line = this.#lines.get(path) ?? [];
    const first = line.shift();
    this.#lines.delete(path);
    if (line.length > 0) this.#lines.set(path, line);
    return first;
  }

  /** Takes out all reads, or those of one store. */
  clear(path?: string): T[] {
    const all = path === undefined ? [...this.#lines.values()].flat() : (this.#lines.get(path) ?? []);
    if (path === undefined) this.#lines.clear();
    else this.#lines.delete(path);
    return all;
  }
}
