import type { PointerNames, RowsAnswer } from '../../../../src/console/protocol/protocol.ts';
import type { JsonObject } from '../../../../src/kernel/json.ts';
import {
  BLOCK_ROWS,
  type Block,
  BlockCache,
  type BlockRequest,
  blockOf,
  requestFor,
  shownRows,
  toBlock,
  wantedBlocks,
} from './blocks.ts';

/** A jump asks once the scroll bar has been still for so long; neighbours are asked for at once. */
const JUMP_PAUSE_MS = 80;
/** Scrolling that does not end asks all the same after so many pauses. */
const MAX_PAUSES = 2;
const MAX_PENDING = 3;
/** Blocks asked for ahead of the scrolling. */
const AHEAD = 2;

export interface RowReader {
  block(request: BlockRequest, signal: AbortSignal): Promise<RowsAnswer>;
  /** The records of these ids, in any order; those that are gone are left out. */
  byIds(objectIds: readonly string[], signal: AbortSignal): Promise<RowsAnswer>;
}

export interface Row {
  readonly record: JsonObject;
  readonly names: PointerNames;
}

/** A request for a block that is under way. */
interface Pending {
  readonly controller: AbortController;
  /** Fulfilled once it has ended, in whatever way. */
  readonly ended: Promise<void>;
}

interface Wish {
  readonly first: number;
  readonly end: number;
  readonly rowCount: number;
  readonly direction: number;
}

const NOTHING: Wish = { first: 0, end: 1, rowCount: 1, direction: 0 };

/** The rows of one filter and order: asks for the blocks that are seen, keeps those seen last, and ends requests that nobody waits for. */
export class RowSource {
  readonly #reader: RowReader;
  readonly #pauseMs: number;
  readonly #cache = new BlockCache();
  readonly #pending = new Map<number, Pending>();
  readonly #listeners = new Set<() => void>();
  #wish = NOTHING;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** When the jump that waits for the scroll bar began to. */
  #waitsSince: number | null = null;
  #refreshing: AbortController | undefined;
  #gone: ReadonlySet<string> = new Set();
  #version = 0;
  #end: number | null = null;
  #failure: unknown = null;
  #isStopped = false;

  constructor(reader: RowReader, pauseMs = JUMP_PAUSE_MS) {
    this.#reader = reader;
    this.#pauseMs = pauseMs;
  }

  /** For `useSyncExternalStore`. */
  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Another number after each change. */
  version = (): number => this.#version;

  /** `undefined`: not here yet. */
  row(index: number): Row | undefined {
    const block = this.#cache.peek(blockOf(index));
    const record = block?.rows[index % BLOCK_ROWS];
    return block && record ? { record, names: block.names } : undefined;
  }

  /** Where the table ends, once that was seen. */
  get end(): number | null {
    return this.#end;
  }

  /** What the last request failed with; `null` after one that did not. */
  get failure(): unknown {
    return this.#failure;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  get isEmpty(): boolean {
    return this.#cache.size === 0;
  }

  /** Number of the requests that are under way. */
  get pendingCount(): number {
    return this.#pending.size;
  }

  /** How many of the rows were deleted while they were seen. */
  get goneCount(): number {
    return this.#gone.size;
  }

  /** Whether a record was deleted while it was seen. */
  isGone(objectId: string): boolean {
    return this.#gone.has(objectId);
  }

  /** Names the rows that are seen. @param direction 1 downwards, -1 upwards, 0 at rest */
  want(first: number, end: number, rowCount: number, direction: number): void {
    this.#wish = { first, end, rowCount, direction };
    this.#isStopped = false;
    const wanted = this.#wanted();
    for (const index of wanted) this.#cache.get(index);
    for (const index of this.#pending.keys()) if (!wanted.includes(index)) this.#abort(index);
    this.#ask();
  }

  /** Ends what is under way, until rows are wanted again. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    for (const index of this.#pending.keys()) this.#abort(index);
    this.#changed();
  }

  /** Asks again after a failure or a stop. */
  retry(): void {
    this.#failure = null;
    this.#isStopped = false;
    this.#ask();
    this.#changed();
  }

  /** Ends all requests. */
  dispose(): void {
    this.stop();
    this.#refreshing?.abort();
  }

  /**
   * Reads the seen rows again, by their ids: values change in place, rows do not move, and those that are gone are marked. Blocks that are not seen are
   * forgotten; their neighbours find them again by key. Blocks under way may have been read before the change: they are read again once
   * they are here.
   */
  async refresh(): Promise<void> {
    this.#refreshing?.abort();
    const controller = new AbortController();
    this.#refreshing = controller;
    const underWay = [...this.#pending.values()].map(({ ended }) => ended);
    await this.#readAgain(controller.signal);
    if (underWay.length === 0) return;
    await Promise.all(underWay);
    if (!controller.signal.aborted) await this.#readAgain(controller.signal);
  }

  async #readAgain(signal: AbortSignal): Promise<void> {
    const { first, end } = this.#wish;
    const seen = this.#cache.all().filter(({ index }) => index >= blockOf(first) && index <= blockOf(Math.max(first, end - 1)));
    for (const block of this.#cache.all()) if (!seen.includes(block)) this.#cache.delete(block.index);
    const ids = seen.flatMap(({ rows }) => rows.map(idOf));
    if (ids.length === 0) return;
    const answer = await this.#reader.byIds(ids, signal);
    if (signal.aborted) return;
    const records = new Map(shownRows(answer).map((record) => [idOf(record), record]));
    this.#gone = new Set([...this.#gone, ...ids.filter((id) => !records.has(id))]);
    for (const { index } of seen) {
      const block = this.#cache.peek(index);
      if (!block) continue;
      const rows = block.rows.map((row) => records.get(idOf(row)) ?? row);
      this.#cache.replace({ ...block, rows, names: mergedNames(block.names, answer.names) });
    }
    this.#changed();
  }

  /** Puts values into a record that is here: what was written, before or after the service has said so. */
  patch(objectId: string, changes: JsonObject, names: PointerNames = {}): void {
    for (const block of this.#cache.all()) {
      if (!block.rows.some((row) => idOf(row) === objectId)) continue;
      const rows = block.rows.map((row) => (idOf(row) === objectId ? { ...row, ...changes } : row));
      this.#cache.replace({ ...block, rows, names: mergedNames(block.names, names) });
    }
    this.#changed();
  }

  #wanted(): number[] {
    const { first, end, rowCount, direction } = this.#wish;
    return wantedBlocks(first, end, Math.min(rowCount, this.#end ?? rowCount), direction, AHEAD);
  }

  #ask(): void {
    clearTimeout(this.#timer);
    if (this.#isStopped || this.#failure !== null) return;
    for (const index of this.#wanted()) {
      if (this.#pending.size >= MAX_PENDING) return;
      if (this.#cache.peek(index) || this.#pending.has(index)) continue;
      const request = requestFor(index, this.#cache);
      // Where another is on its way this one is asked for by key when that one is here.
      if (request.kind === 'skip' && this.#pending.size > 0) continue;
      if (request.kind === 'skip' && !this.isEmpty) {
        this.#waitsSince ??= performance.now();
        const left = this.#waitsSince + MAX_PAUSES * this.#pauseMs - performance.now();
        this.#timer = setTimeout(() => this.#start(index, requestFor(index, this.#cache)), Math.min(this.#pauseMs, left));
        return;
      }
      this.#start(index, request);
    }
  }

  #start(index: number, request: BlockRequest): void {
    if (this.#pending.has(index) || this.#cache.peek(index)) return;
    this.#waitsSince = null;
    const controller = new AbortController();
    this.#pending.set(index, { controller, ended: this.#read(index, request, controller.signal) });
    this.#changed();
  }

  async #read(index: number, request: BlockRequest, signal: AbortSignal): Promise<void> {
    try {
      const answer = await this.#reader.block(request, signal);
      if (signal.aborted) return;
      this.#pending.delete(index);
      if (request.kind === 'before' && answer.rows.length < BLOCK_ROWS) {
        // Rows went away above: what is there now does not fill the block.
        this.#start(index, { kind: 'skip', skip: index * BLOCK_ROWS });
        return;
      }
      this.#take(toBlock(index, answer));
    } catch (error) {
      if (signal.aborted) return;
      this.#pending.delete(index);
      this.#failure = error;
    }
    this.#changed();
    this.#ask();
  }

  #take(block: Block): void {
    if (block.rows.length < BLOCK_ROWS) {
      const end = block.index * BLOCK_ROWS + block.rows.length;
      this.#end = block.rows.length > 0 ? end : Math.min(end, this.#end ?? end);
    }
    this.#cache.put(block);
  }

  #abort(index: number): void {
    this.#pending.get(index)?.controller.abort();
    this.#pending.delete(index);
  }

  #changed(): void {
    this.#version += 1;
    for (const listener of this.#listeners) listener();
  }
}

export const idOf = (record: JsonObject) => String(record.objectId);

export function mergedNames(names: PointerNames, more: PointerNames): PointerNames {
  const merged = { ...names };
  for (const [table, byId] of Object.entries(more)) merged[table] = { ...merged[table], ...byId };
  return merged;
}
