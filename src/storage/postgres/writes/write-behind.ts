import { isPassing } from '../../../errors/fail.ts';
import type { PreparedWrite } from '../../port.ts';

/** Maximum delay of writes that no caller waits for, in milliseconds. One large batch costs a fraction of many small ones. */
const FLUSH_DELAY_MS = 200;
/** Number of collected writes that triggers a flush. */
const MAX_BATCH = 500;
/** Maximum number of waiting and pending writes; further ones are dropped, for example while the database is unreachable. */
const MAX_PENDING = 10_000;
/** Maximum attempts of a write that passing faults prevent. */
const MAX_ATTEMPTS = 20;

/** Callbacks of `WriteBehind`. */
export interface WriteBehindSettings {
  /** Called for many writes in one turn of the event loop, which share a transaction. */
  readonly execute: (write: PreparedWrite) => Promise<unknown>;
  /** Resolves when the store works again after a passing fault. */
  readonly whenBack: () => Promise<void>;
  /** Called for lost writes: there were too many, or the store did not recover in time. */
  readonly dropped: (error?: unknown) => void;
  /** Called with a description of failed writes. */
  readonly report: (fault: string) => void;
}

interface CollectedWrite {
  readonly write: PreparedWrite;
  attempts: number;
}

/** Collects writes that no caller waits for, and retries them after passing faults. */
export class WriteBehind {
  readonly #settings: WriteBehindSettings;
  #collected: CollectedWrite[] = [];
  #pending = 0;
  #closed = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(settings: WriteBehindSettings) {
    this.#settings = settings;
  }

  add(write: PreparedWrite): void {
    if (this.#collected.length + this.#pending >= MAX_PENDING) {
      this.#settings.dropped();
      return;
    }
    this.#collected.push({ write, attempts: 0 });
    if (this.#collected.length >= MAX_BATCH && this.#pending === 0) this.flush();
    else this.#flushLater();
  }

  /** Starts all collected writes in this turn of the event loop. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const writes = this.#collected;
    if (writes.length === 0) return;
    this.#collected = [];
    this.#pending += writes.length;
    void this.#finish(writes);
  }

  /** Flushes; what fails from now on is lost. */
  close(): void {
    this.#closed = true;
    this.flush();
  }

  #flushLater(): void {
    this.#timer ??= setTimeout(() => this.#flushUnlessBusy(), FLUSH_DELAY_MS);
  }

  /** One flush at a time: while the database is busy, writes accumulate. */
  #flushUnlessBusy(): void {
    this.#timer = undefined;
    if (this.#pending === 0) this.flush();
  }

  async #finish(writes: readonly CollectedWrite[]): Promise<void> {
    const done = await Promise.allSettled(writes.map(({ write }) => this.#settings.execute(write)));
    const retries: CollectedWrite[] = [];
    let failed = 0;
    let reason: unknown;
    done.forEach((one, at) => {
      if (one.status === 'fulfilled') return;
      const behind = writes[at] as CollectedWrite;
      behind.attempts++;
      if (isPassing(one.reason) && !this.#closed && behind.attempts < MAX_ATTEMPTS) retries.push(behind);
      else if (isPassing(one.reason)) this.#settings.dropped(one.reason);
      // Ignore errors after a retry: a write whose outcome was unknown may have been committed before.
      else if (behind.attempts === 1) {
        failed++;
        reason ??= one.reason;
      }
    });
    if (failed > 0) this.#settings.report(`${failed} writes that nobody waits for failed: ${(reason as Error).message}`);
    // Retried writes count as pending until then, so that later ones do not overtake them.
    this.#pending -= writes.length - retries.length;
    if (retries.length > 0) {
      await this.#settings.whenBack();
      this.#pending -= retries.length;
      this.#collected.unshift(...retries);
      if (this.#closed) return this.flush();
    }
    if (this.#pending === 0 && this.#collected.length > 0) this.#flushLater();
  }
}
