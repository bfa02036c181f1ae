import { setTimeout as wait } from 'node:timers/promises';
import type { Connection } from './connection/connection.ts';
import type { SentFault } from './connection/map-error.ts';
import type { MaintenanceResult } from './reads/protocol.ts';
import type { ReaderPool } from './reads/reader-pool.ts';
import type { WriteQueue } from './writes/write-queue.ts';

/** Pages of the WAL that accumulate before they are copied into the file: 8 MB. */
const STEP_PAGES = 2_000;
/** Size of the WAL, in pages, beyond which it is restarted: 32 MB. */
const MAX_WAL_PAGES = 8_000;
/** Size of the WAL, in pages, beyond which writes wait, for a limited time, for the thread that copies it: 64 MB. */
const HELD_PAGES = 16_000;
/** Delay before the next attempt if a reader, or another process, prevents the WAL from being copied or restarted. */
const AGAIN_MS = 1_000;
/** Maximum time that writes wait while the WAL is copied or restarted. */
const MAX_PAUSE_MS = 2_000;

/**
 * Keeps a store's WAL bounded. Threads copy it into the file. SQLite can restart it only when nobody reads from it and all of it is copied, which
 * never happens under steady load; so once it is large, writes pause for that. A reader of an old snapshot keeps it growing, and no write waits for
 * such a reader.
 */
export class Checkpoints {
  readonly #connection: Connection;
  readonly #commits: WriteQueue;
  readonly #pool: ReaderPool;
  readonly #met: (fault: SentFault) => void;
  #running: Promise<void> | undefined;
  /** Set while the WAL is being copied; `#isHeld`: writes have already waited for this copy. */
  #copying: ReturnType<ReaderPool['errand']> | undefined;
  #isHeld = false;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** @param onFault called with the fault of a checkpoint; the next one is tried later */
  constructor(connection: Connection, commits: WriteQueue, pool: ReaderPool, met: (fault: SentFault) => void) {
    this.#connection = connection;
    this.#commits = commits;
    this.#pool = pool;
    this.#met = met;
  }

  /** Call after each commit; costs a microsecond. */
  noticed(): void {
    if (this.#copying) this.#hold(this.#copying);
    if (this.#running || this.#timer || this.#isClosed) return;
    const log = this.#connection.logLength();
    // If everything is copied and nobody reads from it, the next write restarts the WAL by itself.
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
    // Writes continued meanwhile. If more is left than they add, a reader holds the WAL.
    if (pages - copied > STEP_PAGES || !(await this.#beginAnew())) this.#later();
  }

  /** Makes writes wait for a busy thread that copies more slowly than they come; otherwise the WAL would keep growing. */
  #hold(copying: Promise<unknown>): void {
    if (this.#isHeld || this.#isClosed || (this.#connection.logLength()?.pages ?? 0) < HELD_PAGES) return;
    this.#isHeld = true;
    void this.#commits.alone(() => forAWhile(copying)).catch(() => null);
  }

  /** @returns whether the WAL was restarted */
  async #beginAnew(): Promise<boolean> {
    if (!this.#pool.hasIdleThread || this.#isClosed) return false;
    const path = this.#connection.path;
    const work = () => forAWhile(this.#pool.errand('begin the log anew', path));
    const done = await this.#commits.alone(work).catch(() => null);
    return !this.#hasFailed(done) && done.isBegunAnew === true;
  }

  /** Returns whether the work failed; then it is tried again later. */
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

  /** Empties the WAL of a store that closes; a long one on a thread. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#running;
    if ((this.#connection.logLength()?.pages ?? 0) <= STEP_PAGES) return;
    await forAWhile(this.#pool.errand('begin the log anew', this.#connection.path));
  }
}

/** @returns the result of `work`, or `null` if it takes longer than writes may wait */
function forAWhile<T>(work: Promise<T>): Promise<T | null> {
  return Promise.race([work, wait(MAX_PAUSE_MS, null, { ref: false })]);
}
