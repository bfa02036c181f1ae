import type { SourceRow } from '../columns/row.ts';

/** The rows of a file, slice by slice. It can go back: the file is read again then, which costs less than to hold what may have to be undone. */
export class RowFeed {
  readonly #read: () => AsyncIterable<readonly SourceRow[]>;
  #blocks: AsyncIterator<readonly SourceRow[]> | null = null;
  #block: readonly SourceRow[] = [];
  /** Where in the block. */
  #at = 0;
  /** Rows that are passed over. */
  #skips: number;

  /** @param read begins anew each time @param done rows that were dealt with before */
  constructor(read: () => AsyncIterable<readonly SourceRow[]>, done: number) {
    this.#read = read;
    this.#skips = done;
  }

  /** Goes back, or on, to the row behind the first `done` rows. */
  async begin(done: number): Promise<void> {
    await this.close();
    this.#skips = done;
  }

  /** Whether there is another row, which is at hand then. @throws what reading throws */
  async hasMore(): Promise<boolean> {
    this.#blocks ??= this.#read()[Symbol.asyncIterator]();
    while (this.#at === this.#block.length) {
      const next = await this.#blocks.next();
      if (next.done === true) return false;
      this.#block = next.value;
      this.#at = Math.min(this.#skips, next.value.length);
      this.#skips -= this.#at;
    }
    return true;
  }

  /** @returns rows, no more than `max`; none at the end @throws what reading throws */
  async next(max: number): Promise<readonly SourceRow[]> {
    if (!(await this.hasMore())) return [];
    const slice = this.#block.slice(this.#at, this.#at + max);
    this.#at += slice.length;
    return slice;
  }

  /** Ends the reading. */
  async close(): Promise<void> {
    const blocks = this.#blocks;
    this.#blocks = null;
    this.#block = [];
    this.#at = 0;
    await blocks?.return?.();
  }
}
