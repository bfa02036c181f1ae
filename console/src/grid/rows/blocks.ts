import type { PointerNames, RowsAnswer } from '../../../../src/console/protocol/protocol.ts';
import type { JsonObject } from '../../../../src/kernel/json.ts';

export const BLOCK_ROWS = 100;
/** Blocks that are kept; a window needs two or three. */
export const MAX_BLOCKS = 40;

/** Rows `index * BLOCK_ROWS` and following. */
export interface Block {
  readonly index: number;
  readonly rows: readonly JsonObject[];
  readonly names: PointerNames;
  readonly first: string | null;
  readonly last: string | null;
}

/** What asks for a block: the neighbour of one that is here is found by key, another by its place. */
export type BlockRequest =
  | { readonly kind: 'after'; readonly cursor: string }
  | { readonly kind: 'before'; readonly cursor: string }
  | { readonly kind: 'skip'; readonly skip: number };

export const blockOf = (row: number) => Math.floor(row / BLOCK_ROWS);

/** Stands in a cell whose value is too long for a list. */
export const LEFT_OUT = '…';

/** The rows of an answer, with `LEFT_OUT` for what it leaves out. */
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

/** The blocks that were seen last. */
export class BlockCache {
  readonly #blocks = new Map<number, Block>();
  readonly #limit: number;

  constructor(limit = MAX_BLOCKS) {
    this.#limit = limit;
  }

  /** Counts as a use of it. */
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

  /** The one used longest ago goes where there are too many. */
  put(block: Block): void {
    this.#blocks.delete(block.index);
    this.#blocks.set(block.index, block);
    for (const index of this.#blocks.keys()) {
      if (this.#blocks.size <= this.#limit) break;
      this.#blocks.delete(index);
    }
  }

  /** In place: its turn to go does not change. */
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

/** How to ask for a block. A block that is not full ends the table, so nothing is asked after it. */
export function requestFor(index: number, cache: BlockCache): BlockRequest {
  if (index === 0) return { kind: 'skip', skip: 0 };
  const before = cache.peek(index - 1);
  if (before?.last && before.rows.length === BLOCK_ROWS) return { kind: 'after', cursor: before.last };
  const after = cache.peek(index + 1);
  if (after?.first) return { kind: 'before', cursor: after.first };
  return { kind: 'skip', skip: index * BLOCK_ROWS };
}

/**
 * The blocks to have, the most wanted first: those that are seen, then those that scrolling goes towards.
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
