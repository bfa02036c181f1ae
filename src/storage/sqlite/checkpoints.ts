import { setTimeout as wait } from 'node:timers/promises';
import type { Connection } from './connection/connection.ts';
import type { SentFault } from './connection/map-error.ts';
import type { WalLength } from './connection/statements.ts';
import type { MaintenanceResult } from './reads/protocol.ts';
import type { ReaderPool } from './reads/reader-pool.ts';
import type { WriteQueue } from './writes/write-queue.ts';

/** Pages of the WAL that accumulate before they are copied into the file: 8 MB. */
const STEP_PAGES = 2_000;
/** Size of the WAL, in pages, beyond which it is restarted: 32 MB. */
const MAX_WAL_PAGES = 8_000;
/** Size of the WAL, in pages, beyond which writes wait, for a limited time, for the thread that copies it: 64 MB. */
const MAX_UNCOPIED_PAGES = 16_000;
/** Delay before the next attempt if a reader, or another process, prevents the WAL from being copied or restarted. */
const RETRY_DELAY_MS = 1_000;
/** Maximum time that writes wait while the WAL is copied or restarted. */
const MAX_PAUSE_MS = 2_000;

/**
 * Keeps a store's WAL bounded. Threads copy it into the file. SQLite can restart it only when no reader uses it and all of it is copied, which
 * never happens under steady load; so once it is large, writes pause for that. A reader of an old snapshot keeps it growing, and no write waits for
 * such a reader.
 */
export class Checkpoints {
  readonly #connection: Connection;
  readonly #commits: WriteQueue;
  readonly #pool: ReaderPool;
  readonly #onFault: (fault: SentFault) => void;
  #running: Promise<void> | undefined;
  /** Set while the WAL is being copied; `#isHeld`: writes have already waited for this copy. */
  #copying: ReturnType<ReaderPool['maintain']> | undefined;
  #isHeld = false;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** @param onFault called with the fault of a checkpoint; the next one is tried later */
  constructor(connection: Connection, commits: WriteQueue, pool: ReaderPool, onFault: (fault: SentFault) => void) {
    this.#connection = connection;
    this.#commits = commits;
    this.#pool = pool;
    this.#onFault = onFault;
  }

  /** Call after each commit. @param log the length of the WAL; `null` if it is not known */
  onCommit(log: WalLength | null): void {
    if (this.#copying) this.#hold(this.#copying, log);
    if (this.#running || this.#timer || this.#isClosed) return;
    // If everything is copied and no reader uses it, the next write restarts the WAL by itself.
    if (!log || (log.pages - log.copied < STEP_PAGES && (log.pages < MAX_WAL_PAGES || log.copied === log.pages))) return;
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  async #run(): Promise<void> {
    this.#copying = this.#pool.maintain('checkpoint', this.#connection.path);
    const done = await this.#copying.finally(() => {
      this.#copying = undefined;
      this.#isHeld = false;
    });
    if (this.#hasFailed(done)) return;
    const { pages = 0, copied = 0 } = done;
    if (pages < MAX_WAL_PAGES) return;
    // Writes continued meanwhile. If more is left than they add, a reader holds the WAL.
    if (pages - copied > STEP_PAGES || !(await this.#restartLog())) this.#retryLater();
  }

  /** Makes writes wait for a busy thread that copies more slowly than they come; otherwise the WAL would keep growing. */
  #hold(copying: Promise<unknown>, log: WalLength | null): void {
    if (this.#isHeld || this.#isClosed || (log?.pages ?? 0) < MAX_UNCOPIED_PAGES) return;
    this.#isHeld = true;
    void this.#commits.exclusive(() => withinPause(copying)).catch(() => null);
  }

  /** @returns whether the WAL was restarted */
  async #restartLog(): Promise<boolean> {
    if (!this.#pool.hasIdleThread || this.#isClosed) return false;
    const path = this.#connection.path;
    // Most of what was copied is flushed while writes go on.
    await this.#commits.flushFile();
    if (this.#isClosed) return false;
    const work = () => withinPause(this.#pool.maintain('restart', path));
    const done = await this.#commits.exclusive(work).catch(() => null);
    return !this.#hasFailed(done) && done.isRestarted === true;
  }

  /** Returns whether the work failed; then it is tried again later. */
  #hasFailed(result: MaintenanceResult | null): result is null {
    if (result && !result.fault) return false;
    if (result?.fault) this.#onFault(result.fault);
    this.#retryLater();
    return true;
  }

  #retryLater(): void {
    if (this.#isClosed || this.#timer) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.onCommit(this.#connection.logLength());
    }, RETRY_DELAY_MS).unref();
  }

  /** Copies the WAL of a store that closes into the file, on a thread if one runs or the WAL is long. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#running;
    const { pages = 0, copied = 0 } = this.#connection.logLength() ?? {};
    if (pages <= copied || (pages <= STEP_PAGES && !this.#pool.hasIdleThread)) return;
    await withinPause(this.#pool.maintain('restart', this.#connection.path));
  }
}

/** @returns the result of `work`, or `null` if it takes longer than writes may wait */
function withinPause<T>(work: Promise<T>): Promise<T | null> {
  return Promise.race([work, wait(MAX_PAUSE_MS, null, { ref: false })]);
}
