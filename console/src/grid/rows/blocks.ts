import type { PointerNames, RowsAnswer } from '../../../../src/console/protocol/protocol.ts';
import type { JsonObject } from '../../../../src/kernel/json.ts';

export const BLOCK_ROWS = 100;
/** Maximum number of cached blocks; a window needs two or three. */
export const MAX_BLOCKS = 40;

/** The rows from `index * BLOCK_ROWS` on. */
export interface Block {
  readonly index: number;
  readonly rows: readonly JsonObject[];
  readonly names: PointerNames;
  readonly first: string | null;
  readonly last: string | null;
}

/** How a block is requested: a neighbour of a cached block by key, any other by its position. */
export type BlockRequest =
  | { readonly kind: 'after'; readonly cursor: string }
  | { readonly kind: 'before'; readonly cursor: string }
  | { readonly kind: 'skip'; readonly skip: number };

export const blockOf = (row: number) => Math.floor(row / BLOCK_ROWS);

/** Placeholder in a cell whose value is too long for a list. */
export const LEFT_OUT = '…';

/** Returns the rows of an answer, with `LEFT_OUT` for omitted values. */
export function shownRows({ rows, leftOut }: RowsAnswer): readonly JsonObject[] {
  if (!leftOut) return rows;
  return rows.map((row) => {
    const names = leftOut[String(row.objectId)] ?? [];
    return { ...row, ...Object.fromEntries(names.map((name) => [name, LEFT_OUT])) };
  });
}

export function toBlock(index: number, answer: RowsAnswer): Block {
  return { index, rows: shownRows(answer), names: answer.names, first: answer.first, last: answer.last };
}

/** An LRU cache of blocks. */
export class BlockCache {
  readonly #blocks = new Map<number, Block>();
  readonly #limit: number;

  constructor(limit = MAX_BLOCKS) {
    this.#limit = limit;
  }

  /** Counts as a use of the block. */
  get(index: number): Block | undefined {
    const block = this.#blocks.get(index);
    if (block) {
      this.#blocks.delete(index);
      this.#blocks.set(index, block);
    }
    return block;
  }

  peek(index: number): Block | undefined {
    return this.#blocks.get(index);
  }

  /** Evicts the least recently used block if there are too many. */
  put(block: Block): void {
    this.#blocks.delete(block.index);
    this.#blocks.set(block.index, block);
    for (const index of this.#blocks.keys()) {
      if (this.#blocks.size <= this.#limit) break;
      this.#blocks.delete(index);
    }
  }

  /** Replaces a block without counting as a use. */
  replace(block: Block): void {
    if (this.#blocks.has(block.index)) this.#blocks.set(block.index, block);
  }

  delete(index: number): void {
    this.#blocks.delete(index);
  }

  get size(): number {
    return this.#blocks.size;
  }

  all(): Block[] {
    return [...this.#blocks.values()];
  }
}

/** Returns how to request a block. A block that is not full ends the table, so nothing after it is requested. */
export function requestFor(index: number, cache: BlockCache): BlockRequest {
  if (index === 0) return { kind: 'skip', skip: 0 };
  const before = cache.peek(index - 1);
  if (before?.last && before.rows.length === BLOCK_ROWS) return { kind: 'after', cursor: before.last };
  const after = cache.peek(index + 1);
  if (after?.first) return { kind: 'before', cursor: after.first };
  return { kind: 'skip', skip: index * BLOCK_ROWS };
}

/**
 * Returns the blocks to load, most urgent first: the visible ones, then those in the direction of scrolling.
 * @param direction 1 downwards, -1 upwards, 0 at rest
 */
export function wantedBlocks(first: number, end: number, rowCount: number, direction: number, ahead: number): number[] {
  if (end <= first) return [];
  const from = blockOf(first);
  const to = blockOf(end - 1);
  const last = blockOf(Math.max(0, rowCount - 1));
  const seen = Array.from({ length: to - from + 1 }, (_, at) => from + at);
  if (direction < 0) seen.reverse();
  const next = Array.from({ length: ahead }, (_, at) => (direction < 0 ? from - 1 - at : to + 1 + at));
  return [...seen, ...next.filter((index) => index >= 0 && index <= last)];
}
