import { setTimeout as wait } from 'node:timers/promises';
import type { Connection } from './connection/connection.ts';
import type { SentFault } from './connection/map-error.ts';
import type { MaintenanceResult } from './reads/protocol.ts';
import type { ReaderPool } from './reads/reader-pool.ts';
import type { WriteQueue } from './writes/write-queue.ts';

/** Pages of the log that are copied into the file at a time: 8 MB. */
const STEP_PAGES = 2_000;
/** Pages beyond which the log is begun anew: 32 MB. */
const MAX_WAL_PAGES = 8_000;
/** Pages beyond which writes wait, for a while, for the thread that copies them: 64 MB. */
const HELD_PAGES = 16_000;
/** Milliseconds until the next try where a reader, or another process, keeps the log from being copied or begun anew. */
const AGAIN_MS = 1_000;
/** Milliseconds that writes wait while the log is copied or begun anew. */
const MAX_PAUSE_MS = 2_000;

/**
 * Keeps a store's log of changes (WAL) bounded. Threads copy it into the file; a log is begun anew only where nobody reads in it and all of it
 * is copied, which steady load never lets happen: so writes wait a moment for that once it is large. A reader of an old state keeps it
 * growing, and no write waits for it.
 */
export class Checkpoints {
  readonly #connection: Connection;
  readonly #commits: WriteQueue;
  readonly #pool: ReaderPool;
  readonly #met: (fault: SentFault) => void;
  #running: Promise<void> | undefined;
  /** The log is being copied, and writes have waited for it once. */
  #copying: ReturnType<ReaderPool['errand']> | undefined;
  #isHeld = false;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** @param met told of what a checkpoint met; the next one is tried later */
  constructor(connection: Connection, commits: WriteQueue, pool: ReaderPool, met: (fault: SentFault) => void) {
    this.#connection = connection;
    this.#commits = commits;
    this.#pool = pool;
    this.#met = met;
  }

  /** To be called after each commit; costs a microsecond. */
  noticed(): void {
    if (this.#copying) this.#hold(this.#copying);
    if (this.#running || this.#timer || this.#isClosed) return;
    const log = this.#connection.logLength();
    // A write after all was copied begins it anew by itself, where nobody reads in it.
    if (!log || (log.pages - log.copied < STEP_PAGES && (log.pages < MAX_WAL_PAGES || log.copied === log.pages))) return;
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  async #run(): Promise<void> {
    this.#copying = this.#pool.errand('copy the log', this.#connection.path);
    const done = await this.#copying.finally(() => {
      this.#copying = undefined;
      this.#isHeld = false;
    });
    if (this.#hasFailed(done)) return;
    const { pages = 0, copied = 0 } = done;
    if (pages < MAX_WAL_PAGES) return;
    // Writes have gone on meanwhile; more than that is left where a reader holds it.
    if (pages - copied > STEP_PAGES || !(await this.#beginAnew())) this.#later();
  }

  /** Writes that come faster than a busy thread copies them wait for it: else the log would grow with them. */
  #hold(copying: Promise<unknown>): void {
    if (this.#isHeld || this.#isClosed || (this.#connection.logLength()?.pages ?? 0) < HELD_PAGES) return;
    this.#isHeld = true;
    void this.#commits.alone(() => forAWhile(copying)).catch(() => null);
  }

  /** @returns whether it was */
  async #beginAnew(): Promise<boolean> {
    if (!this.#pool.hasIdleThread || this.#isClosed) return false;
    const path = this.#connection.path;
    const work = () => forAWhile(this.#pool.errand('begin the log anew', path));
    const done = await this.#commits.alone(work).catch(() => null);
    return !this.#hasFailed(done) && done.isBegunAnew === true;
  }

  /** Whether it came to nothing: it is tried again later. */
  #hasFailed(result: MaintenanceResult | null): result is null {
    if (result && !result.fault) return false;
    if (result?.fault) this.#met(result.fault);
    this.#later();
    return true;
  }

  #later(): void {
    if (this.#isClosed || this.#timer) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.noticed();
    }, AGAIN_MS).unref();
  }

  /** Empties the log, for a store that is closed: a long one on a thread. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#running;
    if ((this.#connection.logLength()?.pages ?? 0) <= STEP_PAGES) return;
    await forAWhile(this.#pool.errand('begin the log anew', this.#connection.path));
  }
}

/** @returns what work comes to, or `null` where it takes longer than writes wait for it */
function forAWhile<T>(work: Promise<T>): Promise<T | null> {
  return Promise.race([work, wait(MAX_PAUSE_MS, null, { ref: false })]);
}
