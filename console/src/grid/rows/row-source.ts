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

/** A jump is requested after the scroll bar has been still for this time; neighbours are requested immediately. */
const JUMP_PAUSE_MS = 80;
/** During continuous scrolling, a request is sent after this many pauses anyway. */
const MAX_PAUSES = 2;
const MAX_PENDING = 3;
/** Blocks loaded ahead of the scrolling. */
const AHEAD = 2;

export interface RowReader {
  block(request: BlockRequest, signal: AbortSignal): Promise<RowsAnswer>;
  /** Returns the records of these ids, in any order; deleted ones are left out. */
  byIds(objectIds: readonly string[], signal: AbortSignal): Promise<RowsAnswer>;
}

export interface Row {
  readonly record: JsonObject;
  readonly names: PointerNames;
}

/** A running request for a block. */
interface Pending {
  readonly controller: AbortController;
  /** Resolves when the request has ended, with or without success. */
  readonly ended: Promise<void>;
}

interface WantedRows {
  readonly first: number;
  readonly end: number;
  readonly rowCount: number;
  readonly direction: number;
}

const NOTHING: WantedRows = { first: 0, end: 1, rowCount: 1, direction: 0 };

/** The rows of one filter and order: requests the visible blocks, caches recent ones, and cancels requests that are no longer needed. */
export class RowSource {
  readonly #reader: RowReader;
  readonly #pauseMs: number;
  readonly #cache = new BlockCache();
  readonly #pending = new Map<number, Pending>();
  readonly #listeners = new Set<() => void>();
  #wantedRows = NOTHING;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** When the pending jump began to wait for the scroll bar. */
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

  /** Returns a number that changes with each update. */
  version = (): number => this.#version;

  /** Returns a row; `undefined`: not loaded yet. */
  row(index: number): Row | undefined {
    const block = this.#cache.peek(blockOf(index));
    const record = block?.rows[index % BLOCK_ROWS];
    return block && record ? { record, names: block.names } : undefined;
  }

  /** The number of rows, once the end of the table was loaded. */
  get end(): number | null {
    return this.#end;
  }

  /** The error of the last request; `null` if it succeeded. */
  get failure(): unknown {
    return this.#failure;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  get isEmpty(): boolean {
    return this.#cache.size === 0;
  }

  /** The number of running requests. */
  get pendingCount(): number {
    return this.#pending.size;
  }

  /** How many rows were deleted while they were visible. */
  get goneCount(): number {
    return this.#gone.size;
  }

  /** Returns whether a record was deleted while it was visible. */
  isGone(objectId: string): boolean {
    return this.#gone.has(objectId);
  }

  /** Sets the visible rows. @param direction 1 downwards, -1 upwards, 0 at rest */
  want(first: number, end: number, rowCount: number, direction: number): void {
    this.#wantedRows = { first, end, rowCount, direction };
    this.#isStopped = false;
    const wanted = this.#wanted();
    for (const index of wanted) this.#cache.get(index);
    for (const index of this.#pending.keys()) if (!wanted.includes(index)) this.#abort(index);
    this.#ask();
  }

  /** Cancels running requests; nothing is loaded until rows are wanted again. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    for (const index of this.#pending.keys()) this.#abort(index);
    this.#changed();
  }

  /** Loads again after a failure or a stop. */
  retry(): void {
    this.#failure = null;
    this.#isStopped = false;
    this.#ask();
    this.#changed();
  }

  /** Cancels all requests. */
  dispose(): void {
    this.stop();
    this.#refreshing?.abort();
  }

  /**
   * Reads the visible rows again by their ids: values change in place, rows do not move, deleted ones are marked. Drops invisible blocks; their
   * neighbours find them again by key. Running requests may have read the state before the change, so their blocks are read again when they arrive.
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
    const { first, end } = this.#wantedRows;
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

  /** Sets values of a loaded record: values that were written, before or after the service has confirmed them. */
  patch(objectId: string, changes: JsonObject, names: PointerNames = {}): void {
    for (const block of this.#cache.all()) {
      if (!block.rows.some((row) => idOf(row) === objectId)) continue;
      const rows = block.rows.map((row) => (idOf(row) === objectId ? { ...row, ...changes } : row));
      this.#cache.replace({ ...block, rows, names: mergedNames(block.names, names) });
    }
    this.#changed();
  }

  #wanted(): number[] {
    const { first, end, rowCount, direction } = this.#wantedRows;
    return wantedBlocks(first, end, Math.min(rowCount, this.#end ?? rowCount), direction, AHEAD);
  }

  #ask(): void {
    clearTimeout(this.#timer);
    if (this.#isStopped || this.#failure !== null) return;
    for (const index of this.#wanted()) {
      if (this.#pending.size >= MAX_PENDING) return;
      if (this.#cache.peek(index) || this.#pending.has(index)) continue;
      const request = requestFor(index, this.#cache);
      // While another block is loading, this one waits and is then requested by key.
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
        // Rows above were deleted, so the rows before the key no longer fill the block.
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
