import type { Worker } from 'node:worker_threads';

/** Milliseconds between two measurements of a thread that works on something longer, and of every other one. */
const INTERVAL_MS = { busy: 50, other: 2_000 };

/**
 * Measures the memory of a thread while it works. `resourceLimits` alone does not do: it leaves out buffers, and V8 ends the process, not the thread,
 * when a single allocation passes them.
 */
export class MemoryWatch {
  readonly #worker: Worker;
  readonly #limitBytes: number;
  readonly #busyMs: () => number;
  readonly #onExceeded: () => void;
  #timer: NodeJS.Timeout | undefined;
  #isFast = false;
  #isOver = false;

  /**
   * @param limitMb memory that the thread may use, in MiB: its heap and its buffers
   * @param busyMs milliseconds for which it has been busy; 0 if it is not
   * @param onExceeded called once
   */
  constructor(worker: Worker, limitMb: number, busyMs: () => number, onExceeded: () => void) {
    this.#worker = worker;
    this.#limitBytes = limitMb * 1024 * 1024;
    this.#busyMs = busyMs;
    this.#onExceeded = onExceeded;
    this.#schedule(false);
  }

  /** To be called when the thread becomes busy. */
  busy(): void {
    if (!this.#isFast) this.#schedule(true);
  }

  close(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  #schedule(isFast: boolean): void {
    clearTimeout(this.#timer);
    this.#isFast = isFast;
    this.#timer = setTimeout(() => this.#measure(), isFast ? INTERVAL_MS.busy : INTERVAL_MS.other).unref();
  }

  async #measure(): Promise<void> {
    // Short calls in a row cost no measurement.
    const isDue = !this.#isFast || this.#busyMs() >= INTERVAL_MS.busy;
    const isExceeded = isDue && (await this.#used()) > this.#limitBytes;
    if (this.#isOver) return;
    if (isExceeded) this.#onExceeded();
    else this.#schedule(this.#busyMs() > 0);
  }

  async #used(): Promise<number> {
    try {
      // Answered also while a loop occupies the thread.
      const { total_heap_size: heap, external_memory: buffers } = await this.#worker.getHeapStatistics();
      return heap + buffers;
    } catch {
      // The thread is gone, or has not started yet.
      return 0;
    }
  }
}
