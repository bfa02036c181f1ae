import { setImmediate as nextTurn } from 'node:timers/promises';
import { isUnavailable, serviceError } from '../../../errors/fail.ts';
import { nextWriteOrder } from '../../../kernel/ids.ts';
import type { Connection } from '../connection/connection.ts';
import { busyError, storeFaultOf } from '../connection/map-error.ts';
import { commit } from './transaction.ts';
import { WriteBehind } from './write-behind.ts';

/** Maximum writes in one commit: about 10 ms of work, after which the event loop gets a turn. */
const MAX_GROUP_WRITES = 500;
/** Time after which a group is committed as it is: single writes to large records take a hundred times as long as others. */
const MAX_GROUP_MS = 50;

/** Delays between attempts to get a write lock that another process holds: short at first, then doubling, with jitter. */
const MIN_RETRY_DELAY_MS = 1;
const MAX_RETRY_DELAY_MS = 20;
/** Maximum time that a write waits for the lock, and time after which the wait is reported. */
const MAX_LOCK_WAIT_MS = 5_000;
const REPORT_AFTER_MS = 1_000;

interface Waiting {
  /** See `PreparedWrite`. */
  readonly order: number;
  /** Executes the write, entirely or not at all, and returns the function that resolves it once the commit is durable. */
  readonly attempt: () => () => void;
  readonly reject: (error: unknown) => void;
  /** Since when it has waited for another process, by `performance.now()`. */
  waitingSince?: number;
}

interface RunOptions {
  readonly order?: number | undefined;
  readonly afterAll?: boolean;
}

/** Callbacks of the write queue. Errors that they throw are ignored, except those of `began` and `isInPlace`. */
export interface WriteQueueEvents {
  /** The transaction of a group has begun: no other connection can write until its end. */
  began(): void;
  /** Returns whether the file is still at its path. @param withinMs maximum age of the check */
  isInPlace(withinMs?: number): boolean;
  /** A group of this many writes is durable. @param ms since its transaction began */
  committed(writes: number, ms: number): void;
  /** A whole group failed: its in-memory effects must be discarded. */
  rolledBack(): void;
  /** Another process holds the write lock and writes wait for it. Called repeatedly while that lasts. */
  busy(error: unknown): void;
  /** Write-behind work was dropped, because of the error or because too much is pending (reported once until the queue is empty). */
  dropped(error?: unknown): void;
  /** Resolves once the store works again after a transient fault; never rejects. */
  whenBack(): Promise<void>;
}

/**
 * Combines all writes that arrive in one turn of the event loop into one durable commit (docs/adr/0003). A failing write does not affect the others;
 * each is answered after the commit. Waiting for another process's write lock does not block the event loop.
 */
export class WriteQueue {
  readonly #connection: Connection;
  readonly #events: WriteQueueEvents;
  #waiting: Waiting[] = [];
  readonly #behind: WriteBehind;
  #scheduled = false;
  /** Timer of the next attempt to get another process's lock. */
  #nextTry: NodeJS.Timeout | undefined;
  #retryDelayMs = MIN_RETRY_DELAY_MS;
  #busySince: number | undefined;
  /** Number of exclusive works that run or wait, and the last of them. */
  #exclusiveCount = 0;
  #lastExclusive: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(connection: Connection, events: WriteQueueEvents) {
    this.#connection = connection;
    this.#events = events;
    this.#behind = new WriteBehind({
      due: () => this.#schedule(),
      dropped: () => ignoringErrors(() => this.#events.dropped()),
      whenBack: () => this.#events.whenBack(),
    });
  }

  /**
   * Runs `work` inside the next commit and resolves with its result once that is durable. `work` is synchronous and rolls back its changes when it
   * throws (transaction.ts), which rejects the promise.
   * @param options `order` as in `PreparedWrite`; `afterAll`: run after the pending write-behind work
   * @throws unavailable if nothing was done; outcomeUnknown if that is uncertain
   */
  run<T>(work: () => T, { order = nextWriteOrder(), afterAll = false }: RunOptions = {}): Promise<T> {
    if (this.#closed) return Promise.reject(serviceError('unavailable'));
    if (afterAll) this.#behind.takeAlong();
    return new Promise<T>((resolve, reject) => {
      const attempt = () => {
        const result = work();
        return () => resolve(result);
      };
      // Only few writes have to be passed: those that took fewer asynchronous steps.
      const before = this.#waiting.findLastIndex((write) => write.order < order);
      this.#waiting.splice(before + 1, 0, { order, attempt, reject });
      this.#schedule();
    });
  }

  /**
   * Runs `work` in a commit soon, before the writes that wait for that commit. Its completion is not reported. If the commit meets a transient fault,
   * it is tried again afterwards.
   * @param work as for `run`; it reports its errors itself, except those that end the transaction
   */
  runBehind(work: () => void): void {
    if (!this.#closed) this.#behind.add(work);
  }

  get #isIdle(): boolean {
    return this.#waiting.length === 0 && !this.#behind.isDue;
  }

  #schedule(): void {
    if (this.#scheduled || this.#nextTry || this.#exclusiveCount > 0 || this.#isIdle) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      if (this.#exclusiveCount > 0 || this.#isIdle) return;
      if (this.#flush()) this.#schedule();
      else this.#retryLater(() => this.#schedule());
    });
  }

  /** Schedules the next attempt while another process holds the write lock. Writes that have waited too long are rejected. */
  #retryLater(next: () => void): void {
    const now = performance.now();
    this.#busySince ??= now;
    const error = busyError();
    if (now - this.#busySince > REPORT_AFTER_MS) ignoringErrors(() => this.#events.busy(error));
    const expired: Waiting[] = [];
    this.#waiting = this.#waiting.filter((write) => {
      write.waitingSince ??= now;
      if (now - write.waitingSince < MAX_LOCK_WAIT_MS) return true;
      expired.push(write);
      return false;
    });
    for (const write of expired) write.reject(error);
    const again = () => {
      this.#nextTry = undefined;
      next();
    };
    this.#nextTry = setTimeout(again, this.#retryDelayMs * (0.5 + Math.random()));
    this.#retryDelayMs = Math.min(MAX_RETRY_DELAY_MS, this.#retryDelayMs * 2);
  }

  /** Begins a transaction. @returns false if another process holds the write lock @throws unavailable */
  #begin(): boolean {
    if (!this.#connection.begin()) return false;
    this.#busySince = undefined;
    this.#retryDelayMs = MIN_RETRY_DELAY_MS;
    return true;
  }

  /** Runs work that writes through another connection, after all earlier writes; later ones wait for its end. */
  async exclusive<T>(work: () => Promise<T>): Promise<T> {
    return (await this.exclusiveIf(() => true, work)) as T;
  }

  /**
   * Does the same if the work is still due when its turn comes.
   * @param order as in `PreparedWrite`: only writes before it are executed first
   * @returns `null` if it is no longer due
   */
  async exclusiveIf<T>(isDue: () => boolean, work: () => Promise<T>, order = Number.POSITIVE_INFINITY): Promise<T | null> {
    const before = this.#lastExclusive;
    const { promise, resolve: end } = Promise.withResolvers<void>();
    this.#lastExclusive = promise;
    this.#exclusiveCount++;
    await before;
    try {
      // Earlier writes of this turn may still be on their way.
      await nextTurn();
      if (this.#closed) throw serviceError('unavailable');
      await this.#flushAll(order);
      if (!isDue()) return null;
      return await work();
    } finally {
      this.#exclusiveCount--;
      end();
      this.#schedule();
    }
  }

  /** Runs `work` in one transaction on this connection, rolled back if it throws. Other writes wait for its end. */
  inOneTransaction<T>(work: () => Promise<T>): Promise<T> {
    return this.exclusive(async () => {
      for (const until = performance.now() + MAX_LOCK_WAIT_MS; !this.#begin(); await this.#waitForLock())
        if (performance.now() > until) throw busyError();
      try {
        this.#events.began();
        const result = await work();
        commit(this.#connection, (withinMs) => this.#events.isInPlace(withinMs));
        return result;
      } catch (error) {
        this.#undo();
        throw this.#connection.mapError(error);
      }
    });
  }

  /**
   * Commits one group of pending writes now. Never throws: each write of the group is answered in any case.
   * @param before only writes with lower numbers
   * @returns false if another process holds the write lock
   */
  #flush(before = Number.POSITIVE_INFINITY): boolean {
    let group: Waiting[] = [];
    let behind: (() => void)[] = [];
    const done: (() => void)[] = [];
    const began = performance.now();
    const until = began + MAX_GROUP_MS;
    try {
      if (!this.#begin()) return false;
      behind = this.#behind.take();
      if (behind.length === 0 || !this.#behind.isApart) {
        const end = this.#waiting.findLastIndex(({ order }) => order < before) + 1;
        group = this.#waiting.splice(0, Math.min(MAX_GROUP_WRITES, end));
      }
      this.#events.began();
      // Write-behind work is older than the pending writes: e.g. a user must not be deleted before their request is logged.
      for (const work of behind) work();
      for (const write of group) {
        done.push(this.#attempt(write));
        if (performance.now() > until) break;
      }
      // The rest of the group goes first in the next turn.
      this.#waiting = [...group.splice(done.length), ...this.#waiting];
      commit(this.#connection, (withinMs) => this.#events.isInPlace(withinMs));
    } catch (error) {
      // If the file cannot be used at all, no group was formed: reject all.
      if (group.length + behind.length === 0) group = this.#waiting.splice(0);
      this.#failed(this.#connection.mapError(error), group, behind);
      return true;
    }
    for (const answer of done) answer();
    if (behind.length > 0) this.#behind.done();
    ignoringErrors(() => this.#events.committed(group.length + behind.length, performance.now() - began));
    return true;
  }

  #failed(error: unknown, group: readonly Waiting[], behind: readonly (() => void)[]): void {
    this.#undo();
    for (const write of group) write.reject(error);
    if (isUnavailable(error)) this.#behind.hold(behind);
    // Do not try again: it would fail again, or be executed twice.
    else if (behind.length > 0) ignoringErrors(() => this.#events.dropped(error));
    else if (group.length === 0) this.#behind.leave();
  }

  #undo(): void {
    this.#connection.rollback();
    ignoringErrors(() => this.#events.rolledBack());
  }

  #attempt(write: Waiting): () => void {
    try {
      return write.attempt();
    } catch (error) {
      const mapped = this.#connection.mapError(error);
      // A full or failing disk ends the transaction itself; then the whole group has failed. The same applies if a write may be half done.
      if (!this.#connection.isTransaction || storeFaultOf(mapped)?.isBroken) throw mapped;
      return () => write.reject(mapped);
    }
  }

  /** Commits pending writes and rejects new ones. Never rejects. */
  async close(): Promise<void> {
    this.#behind.release();
    await this.exclusive(async () => {
      this.#closed = true;
      this.#behind.close();
    }).catch(() => {});
    clearTimeout(this.#nextTry);
  }

  /** Commits all pending writes. @param before only writes with lower numbers */
  async #flushAll(before: number): Promise<void> {
    this.#behind.takeAlong();
    while (this.#behind.isDue || (this.#waiting[0]?.order ?? before) < before)
      if (!this.#flush(before)) await this.#waitForLock();
  }

  #waitForLock(): Promise<void> {
    return new Promise((resolve) => this.#retryLater(resolve));
  }
}

/** Runs a callback of the store, which may fail for the same reason as the commit. */
function ignoringErrors(work: () => void): void {
  try {
    work();
  } catch {
    // The store checks its state again at the next commit or read.
  }
}
