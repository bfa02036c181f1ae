import { serviceError } from '../../../errors/fail.ts';
import { StallAllowance } from '../../../kernel/stall-allowance.ts';
import type { FindResult } from '../../port.ts';
import type { CountedText } from '../../reader.ts';
import type { ResolveInclude } from '../../sql/reads/read-plan.ts';
import type { FindPlans } from './protocol.ts';

let lastNumber = 0;

/** One query that runs on a reader thread, and its result: whole or in chunks. */
export class ReadRequest {
  readonly number: number;
  readonly path: string;
  readonly plans: FindPlans;
  readonly resolve: ResolveInclude;
  readonly timeLimit: number;
  /** By `performance.now()`. */
  readonly queuedAt: number = performance.now();
  readonly result: Promise<FindResult>;
  /** Called when it ends before a thread took it. */
  onGivenUp: () => void = () => {};
  /** Called with the error if it fails. */
  onFailed: (error: unknown) => void = () => {};
  /** Called when the client has taken a chunk. */
  onTaken: () => void = () => {};
  /** Called when the client does not need the rest. */
  onCancelled: () => void = () => {};
  /** Whether all credits are used; the thread does other work meanwhile. */
  parked = false;
  /** Characters kept on the thread while it is parked, and since when, by `performance.now()`. */
  held = 0;
  parkedAt = 0;

  #settle: { resolve: (result: FindResult) => void; reject: (error: unknown) => void } | undefined;
  #count: number | undefined;
  #rows = 0;
  #pieces: string[] = [];
  #error: unknown;
  #ended = false;
  #wake: (() => void) | undefined;
  #stalled: NodeJS.Timeout | undefined;
  /** The client does not need the rest. */
  #left = false;
  readonly #queueTimer: NodeJS.Timeout;
  readonly #pauses: StallAllowance;

  constructor(path: string, plans: FindPlans, resolve: ResolveInclude, timeLimit: number, pauses = new StallAllowance()) {
    lastNumber = (lastNumber % 0x7fff_ffff) + 1;
    this.number = lastNumber;
    this.path = path;
    this.plans = plans;
    this.resolve = resolve;
    this.timeLimit = timeLimit;
    this.#pauses = pauses;
    this.result = new Promise((done, reject) => {
      this.#settle = { resolve: done, reject };
    });
    this.#queueTimer = setTimeout(() => {
      this.fail(serviceError('timeout'));
      this.onGivenUp();
    }, timeLimit);
  }

  /** Call when a thread has taken it. */
  started(): void {
    clearTimeout(this.#queueTimer);
  }

  counted(count: number): void {
    this.#count = count;
  }

  whole(text: string): void {
    this.#answer(this.plans.isOne ? text : `[${text}]`);
  }

  /** @param rows number of rows read so far */
  piece(text: string, rows = 0): void {
    this.#rows = rows;
    this.#pieces.push(text);
    this.#wake?.();
    this.#answer(this.#pieceByPiece());
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  fail(error: unknown): void {
    clearTimeout(this.#queueTimer);
    this.onFailed(error);
    this.#error = error;
    this.#ended = true;
    this.#wake?.();
    this.#settle?.reject(error);
    this.#settle = undefined;
  }

  #answer(results: FindResult['results']): void {
    this.#settle?.resolve(this.#count === undefined ? { results } : { results, count: this.#count });
    this.#settle = undefined;
  }

  /** Returns a JSON array, or the single record, in chunks. Not a generator: one that was never started would not be notified when it is returned. */
  #pieceByPiece(): AsyncIterableIterator<string> & CountedText {
    const { isOne } = this.plans;
    const rows = () => this.#rows;
    let next: 'opening' | 'records' | 'over' = isOne ? 'records' : 'opening';
    const pieces: AsyncIterableIterator<string> & CountedText = {
      get records() {
        return rows();
      },
      [Symbol.asyncIterator]: () => pieces,
      next: async () => {
        if (next === 'opening') {
          next = 'records';
          return { done: false, value: '[' };
        }
        const value = next === 'records' ? await this.#nextPiece() : undefined;
        if (value !== undefined) return { done: false, value };
        if (next === 'over') return { done: true, value: undefined };
        next = 'over';
        return isOne ? { done: true, value: undefined } : { done: false, value: ']' };
      },
      return: async () => {
        next = 'over';
        this.#left = true;
        clearTimeout(this.#stalled);
        if (!this.#ended) this.onCancelled();
        return { done: true, value: undefined };
      },
    };
    return pieces;
  }

  /** Returns the next chunk when it is available, `undefined` after the last. A request for it means that the previous one was taken. */
  async #nextPiece(): Promise<string | undefined> {
    if (this.#stalled) {
      clearTimeout(this.#stalled);
      this.#stalled = undefined;
      this.#pauses.end();
      this.onTaken();
    }
    while (this.#pieces.length === 0 && !this.#ended)
      await new Promise<void>((wake) => {
        this.#wake = wake;
      });
    const piece = this.#pieces.shift();
    if (piece !== undefined) {
      if (!this.#left) this.#stalled = setTimeout(() => this.onCancelled(), this.#pauses.begin(piece.length)).unref();
    } else if (this.#error) throw this.#error;
    return piece;
  }
}
