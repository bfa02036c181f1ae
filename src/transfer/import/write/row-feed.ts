import type { SourceRow } from '../columns/row.ts';

/** The rows of a file in batches. Can rewind by reading the file again, which is cheaper than keeping rows that may have to be retried. */
export class RowFeed {
  readonly #read: () => AsyncIterable<readonly SourceRow[]>;
  #blocks: AsyncIterator<readonly SourceRow[]> | null = null;
  #block: readonly SourceRow[] = [];
  /** Position in the block. */
  #at = 0;
  /** Number of rows to skip. */
  #skips: number;

  /** @param read starts from the beginning at each call @param done number of rows handled before */
  constructor(read: () => AsyncIterable<readonly SourceRow[]>, done: number) {
    this.#read = read;
    this.#skips = done;
  }

  /** Moves to the row after the first `done` rows, in either direction. */
  async begin(done: number): Promise<void> {
    await this.close();
    this.#skips = done;
  }

  /** Returns whether there is another row, and buffers it. @throws errors of reading */
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

  /** @returns at most `max` rows; none at the end @throws errors of reading */
  async next(max: number): Promise<readonly SourceRow[]> {
    if (!(await this.hasMore())) return [];
    const slice = this.#block.slice(this.#at, this.#at + max);
    this.#at += slice.length;
    return slice;
  }

  /** Stops reading. */
  async close(): Promise<void> {
    const blocks = this.#blocks;
    this.#blocks = null;
    this.#block = [];
    this.#at = 0;
    await blocks?.return?.();
  }
}
