import { isPassing } from '../../../errors/fail.ts';
import type { PreparedWrite } from '../../port.ts';

/** How long writes that nobody waits for are kept back at the most, in milliseconds: many rows at once cost a fraction of few at a time. */
const FLUSH_DELAY_MS = 200;
/** Such writes beyond which they are carried out at once. */
const MAX_GATHERED = 500;
/** Such writes that wait or are under way, while the database is away say, beyond which further ones are dropped. */
const MAX_WAITING = 10_000;
/** How often one is tried that faults were in the way of which can pass. */
const MAX_TRIES = 20;

/** What becomes of writes that nobody waits for. */
export interface WriteBehindSettings {
  /** Called for many in one turn, which share a transaction. */
  readonly execute: (write: PreparedWrite) => Promise<unknown>;
  /** Resolves when the store works again after a fault that can pass. */
  readonly whenBack: () => Promise<void>;
  /** Told of writes that are lost: there were too many, or the store did not come back in time. */
  readonly dropped: (error?: unknown) => void;
  /** Told of writes that failed. */
  readonly report: (fault: string) => void;
}

interface QueuedBehind {
  readonly write: PreparedWrite;
  tries: number;
}

/** Gathers the writes that nobody waits for. What a fault was in the way of that can pass is tried again when that is over. */
export class WriteBehind {
  readonly #settings: WriteBehindSettings;
  #gathered: QueuedBehind[] = [];
  #pending = 0;
  #closed = false;
  #latest: NodeJS.Timeout | undefined;

  constructor(settings: WriteBehindSettings) {
    this.#settings = settings;
  }

  add(write: PreparedWrite): void {
    if (this.#gathered.length + this.#pending >= MAX_WAITING) {
      this.#settings.dropped();
      return;
    }
    this.#gathered.push({ write, tries: 0 });
    if (this.#gathered.length >= MAX_GATHERED && this.#pending === 0) this.flush();
    else this.#flushLater();
  }

  /** Starts all that is gathered, in this turn. */
  flush(): void {
    clearTimeout(this.#latest);
    this.#latest = undefined;
    const writes = this.#gathered;
    if (writes.length === 0) return;
    this.#gathered = [];
    this.#pending += writes.length;
    void this.#finish(writes);
  }

  /** Starts all that is gathered; what fails from now on is lost. */
  close(): void {
    this.#closed = true;
    this.flush();
  }

  #flushLater(): void {
    this.#latest ??= setTimeout(() => this.#flushUnlessBusy(), FLUSH_DELAY_MS);
  }

  /** One after the other: what the database does not get done in time is gathered. */
  #flushUnlessBusy(): void {
    this.#latest = undefined;
    if (this.#pending === 0) this.flush();
  }

  async #finish(writes: readonly QueuedBehind[]): Promise<void> {
    const done = await Promise.allSettled(writes.map(({ write }) => this.#settings.execute(write)));
    const again: QueuedBehind[] = [];
    let failed = 0;
    let reason: unknown;
    done.forEach((one, at) => {
      if (one.status === 'fulfilled') return;
      const behind = writes[at] as QueuedBehind;
      behind.tries++;
      if (isPassing(one.reason) && !this.#closed && behind.tries < MAX_TRIES) again.push(behind);
      else if (isPassing(one.reason)) this.#settings.dropped(one.reason);
      // One that was in doubt, and had been carried out, is there already.
      else if (behind.tries === 1) {
        failed++;
        reason ??= one.reason;
      }
    });
    if (failed > 0) this.#settings.report(`${failed} writes that nobody waits for failed: ${(reason as Error).message}`);
    // Those that are tried again count as under way until then: nothing comes before them.
    this.#pending -= writes.length - again.length;
    if (again.length > 0) {
      await this.#settings.whenBack();
      this.#pending -= again.length;
      this.#gathered.unshift(...again);
      if (this.#closed) return this.flush();
    }
    if (this.#pending === 0 && this.#gathered.length > 0) this.#flushLater();
  }
}
