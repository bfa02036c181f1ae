import { serviceError } from '../../errors/fail.ts';
import type { FindResult } from '../port.ts';
import type { ResolveInclude } from './job.ts';
import type { FindJobs } from './reader-protocol.ts';

/** Longest wait for a client that does not read on, in milliseconds; its snapshot of the data is held as long. */
const STALL_LIMIT = 60_000;

let lastNumber = 0;
const utf8 = new TextEncoder();

/** One query on its way through a reader thread: its result, whole or piece by piece. */
export class ReadTask {
  readonly number: number;
  readonly path: string;
  readonly jobs: FindJobs;
  readonly resolve: ResolveInclude;
  readonly timeLimit: number;
  readonly result: Promise<FindResult>;
  /** Called when the task ends before a thread took it. */
  onGivenUp: () => void = () => {};
  /** Called when the client has taken a piece. */
  onTaken: () => void = () => {};
  /** Called when the client no longer wants the rest. */
  onCancelled: () => void = () => {};
  /** Whether all credit is used: the thread does other work meanwhile. */
  parked = false;

  #settle: { resolve: (result: FindResult) => void; reject: (error: unknown) => void } | undefined;
  #count: number | undefined;
  #pieces: Uint8Array[] = [];
  #error: unknown;
  #ended = false;
  #wake: (() => void) | undefined;
  readonly #queueTimer: NodeJS.Timeout;

  constructor(path: string, jobs: FindJobs, resolve: ResolveInclude, timeLimit: number) {
    lastNumber = (lastNumber % 0x7fff_ffff) + 1;
    this.number = lastNumber;
    this.path = path;
    this.jobs = jobs;
    this.resolve = resolve;
    this.timeLimit = timeLimit;
    this.result = new Promise((done, reject) => {
      this.#settle = { resolve: done, reject };
    });
    this.#queueTimer = setTimeout(() => {
      this.fail(serviceError('timeout'));
      this.onGivenUp();
    }, timeLimit);
  }

  /** A thread has taken the task. */
  started(): void {
    clearTimeout(this.#queueTimer);
  }

  counted(count: number): void {
    this.#count = count;
  }

  whole(text: string): void {
    this.#answer(`[${text}]`);
  }

  piece(bytes: Uint8Array): void {
    this.#pieces.push(bytes);
    this.#wake?.();
    this.#answer(this.#stream());
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  fail(error: unknown): void {
    clearTimeout(this.#queueTimer);
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

  async *#stream(): AsyncGenerator<Uint8Array> {
    try {
      yield utf8.encode('[');
      for (;;) {
        const piece = this.#pieces.shift();
        if (piece) {
          const stalled = setTimeout(() => this.onCancelled(), STALL_LIMIT);
          try {
            yield piece;
          } finally {
            clearTimeout(stalled);
          }
          this.onTaken();
        } else if (this.#ended) break;
        else
          await new Promise<void>((wake) => {
            this.#wake = wake;
          });
      }
      if (this.#error) throw this.#error;
      yield utf8.encode(']');
    } finally {
      if (!this.#ended) this.onCancelled();
    }
  }
}
