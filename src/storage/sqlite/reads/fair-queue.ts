/** Reads that wait for a thread, a line for each store; the stores take turns, so that a flood of one makes only its own reads wait. */
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
   * The store whose turn it is: of those with the fewest at work that which has had its turn longest ago.
   * @param mostAtWork reads of one store at a time
   */
  turn(atWork: (path: string) => number, mostAtWork: number): string | undefined {
    let turn: string | undefined;
    let fewest = mostAtWork;
    for (const path of this.#lines.keys()) {
      const busy = atWork(path);
      if (busy >= fewest) continue;
      turn = path;
      fewest = busy;
    }
    return turn;
  }

  /** Takes out a store's next read; it has its next turn after the others. */
  take(path: string): T | undefined {
    const line = this.#lines.get(path) ?? [];
    const first = line.shift();
    this.#lines.delete(path);
    if (line.length > 0) this.#lines.set(path, line);
    return first;
  }

  /** Takes all of them out, or those of one store. */
  clear(path?: string): T[] {
    const all = path === undefined ? [...this.#lines.values()].flat() : (this.#lines.get(path) ?? []);
    if (path === undefined) this.#lines.clear();
    else this.#lines.delete(path);
    return all;
  }
}
