import { setImmediate as nextTurn } from 'node:timers/promises';
import { serviceError } from '../../../errors/fail.ts';
import { nextWriteOrder } from '../../../kernel/ids.ts';
import type { Connection } from '../connection/connection.ts';
import { busyError } from '../connection/map-error.ts';
import { DurableCommit } from './durable-commit.ts';
import { GroupCommit, type GroupEvents, ignoringErrors, type Pending, type WaitingWrite } from './group-commit.ts';
import { WriteBehind } from './write-behind.ts';

/** Delays between attempts to get a write lock that another process holds: short at first, then doubling, with jitter. */
const MIN_RETRY_DELAY_MS = 1;
const MAX_RETRY_DELAY_MS = 20;
/** Maximum time that a write waits for the lock, and time after which the wait is reported. */
const MAX_LOCK_WAIT_MS = 5_000;
const REPORT_AFTER_MS = 1_000;

interface RunOptions {
  readonly order?: number | undefined;
  readonly afterAll?: boolean;
}

/** Callbacks of the write queue. Errors that they throw are ignored, except those of `began` and `isInPlace`. */
export interface WriteQueueEvents extends GroupEvents {
  /** Another process holds the write lock and writes wait for it. Called repeatedly while that lasts. */
  busy(error: unknown): void;
  /** Resolves once the store works again after a transient fault; never rejects. */
  whenBack(): Promise<void>;
}

/**
 * Combines all writes that arrive while the commit before is flushed into the next one (docs/adr/0003, 0038). A failing write does not affect
 * the others; each is answered after the commit. Waiting for another process's write lock does not block the event loop.
 */
export class WriteQueue {
  readonly #connection: Connection;
  readonly #events: WriteQueueEvents;
  readonly #durable: DurableCommit;
  readonly #groups: GroupCommit;
  readonly #pending: Pending;
  #scheduled = false;
  /** A turn that waits for a flush. Never rejects. */
  #turning: Promise<boolean> | undefined;
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
    const behind = new WriteBehind({
      due: () => this.#schedule(),
      dropped: () => ignoringErrors(() => this.#events.dropped()),
      whenBack: () => this.#events.whenBack(),
    });
    this.#pending = { waiting: [], behind };
    this.#durable = new DurableCommit(connection, events);
    const ended = (hasNext?: boolean) => {
      events.ended(hasNext);
      this.#schedule();
    };
    this.#groups = new GroupCommit(connection, this.#durable, { ...events, ended }, this.#pending, () => this.#schedule());
  }

  /** Waits as long as a condition holds and groups are under way; not without one. Never rejects. */
  endOf(holds: (() => boolean) | undefined): Promise<void> | undefined {
    return holds && this.#endOf(holds);
  }

  async #endOf(holds: () => boolean): Promise<void> {
    for (let end = this.#groups.nextEnd(); end && holds(); end = this.#groups.nextEnd()) await end;
  }

  /** Whether the commit that other connections see already becomes durable; `undefined` if all are. Never rejects. */
  get flushing(): Promise<boolean> | undefined {
    return this.#groups.flushing;
  }

  /**
   * Runs `work` inside the next commit and resolves with its result once that is durable. `work` is synchronous and rolls back its changes when it
   * throws (transaction.ts), which rejects the promise.
   * @param options `order` as in `PreparedWrite`; `afterAll`: run after the pending write-behind work
   * @throws unavailable if nothing was done; outcomeUnknown if that is uncertain
   */
  run<T>(work: () => T, { order = nextWriteOrder(), afterAll = false }: RunOptions = {}): Promise<T> {
    if (this.#closed) return Promise.reject(serviceError('unavailable'));
    if (afterAll) this.#pending.behind.takeAlong();
    return new Promise<T>((resolve, reject) => {
      const attempt = () => {
        const result = work();
        return () => resolve(result);
      };
      // Only few writes have to be passed: those that took fewer asynchronous steps.
      const before = this.#pending.waiting.findLastIndex((write) => write.order < order);
      this.#pending.waiting.splice(before + 1, 0, { order, attempt, reject });
      this.#schedule();
    });
  }

  /**
   * Runs `work` in a commit soon, before the writes that wait for that commit. Its completion is not reported. If the commit meets a transient fault,
   * it is tried again afterwards.
   * @param work as for `run`; it reports its errors itself, except those that end the transaction
   */
  runBehind(work: () => void): void {
    if (!this.#closed) this.#pending.behind.add(work);
  }

  get #isIdle(): boolean {
    return this.#pending.waiting.length === 0 && !this.#pending.behind.isDue;
  }

  /** Whether a turn would execute or commit something. */
  get #hasWork(): boolean {
    const { isOpen, isFull, isGathering, flushing } = this.#groups;
    if (isOpen && !flushing && !isGathering) return true;
    return !isFull && !this.#isIdle;
  }

  #schedule(): void {
    if (this.#scheduled || this.#turning || this.#nextTry || this.#exclusiveCount > 0 || !this.#hasWork) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      if (this.#exclusiveCount > 0 || !this.#hasWork) return;
      const turned = this.#turn();
      if (typeof turned === 'boolean') this.#turned(turned);
      else void turned.then((hasLock) => this.#turned(hasLock));
    });
  }

  #turned(hasLock: boolean): void {
    if (hasLock) this.#schedule();
    else this.#retryLater(() => this.#schedule());
  }

  /**
   * Executes pending writes for one turn of the event loop, and commits them when it is time. Never rejects.
   * @param before only writes with lower numbers
   * @returns false if another process holds the write lock
   */
  #turn(before = Number.POSITIVE_INFINITY): boolean | Promise<boolean> {
    const turned = this.#groups.turn(before);
    if (typeof turned === 'boolean') {
      if (turned) this.#hasLock();
      return turned;
    }
    this.#turning = turned.then((hasLock) => {
      this.#turning = undefined;
      if (hasLock) this.#hasLock();
      return hasLock;
    });
    return this.#turning;
  }

  #hasLock(): void {
    this.#busySince = undefined;
    this.#retryDelayMs = MIN_RETRY_DELAY_MS;
  }

  /** Schedules the next attempt while another process holds the write lock. Writes that have waited too long are rejected. */
  #retryLater(next: () => void): void {
    const now = performance.now();
    this.#busySince ??= now;
    const error = busyError();
    if (now - this.#busySince > REPORT_AFTER_MS) ignoringErrors(() => this.#events.busy(error));
    const expired: WaitingWrite[] = [];
    this.#pending.waiting = this.#pending.waiting.filter((write) => {
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
      await this.#drain(order);
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
    return this.exclusive(() => this.#alone(work));
  }

  async #alone<T>(work: () => Promise<T>): Promise<T> {
    for (const until = performance.now() + MAX_LOCK_WAIT_MS; !(await this.#durable.begin()); await this.#waitForLock())
      if (performance.now() > until) throw busyError();
    this.#hasLock();
    try {
      this.#events.began(true);
      const result = await work();
      const { log, flushed } = this.#durable.commit(false);
      ignoringErrors(() => this.#events.appended(log));
      await flushed;
      ignoringErrors(() => this.#events.ended());
      return result;
    } catch (error) {
      this.#connection.rollback();
      ignoringErrors(() => this.#events.rolledBack());
      throw this.#connection.mapError(error);
    }
  }

  /**
   * Commits pending writes and then a last one, and rejects new ones. Never rejects.
   * @returns the result of `last` if it is durable
   */
  async close<T = undefined>(last?: () => T): Promise<T | null> {
    this.#pending.behind.release();
    const result = this.exclusive(async () => {
      this.#closed = true;
      this.#pending.behind.close();
      return last && this.#connection.isOpen ? this.#alone(async () => last()) : null;
    });
    try {
      return await result;
    } catch {
      return null;
    } finally {
      clearTimeout(this.#nextTry);
      this.#durable.close();
    }
  }

  /** See `WalFlush.flushFile`. */
  flushFile(): Promise<void> {
    return this.#durable.flushFile();
  }

  /** Call when the connection is closed. */
  closed(): void {
    this.#durable.closed();
  }

  /** Commits all pending writes. @param before only writes with lower numbers */
  async #drain(before: number): Promise<void> {
    this.#pending.behind.takeAlong();
    await this.#turning;
    for (;;) {
      const { flushing, isOpen } = this.#groups;
      if (flushing) await flushing;
      else if (!isOpen && !this.#pending.behind.isDue && (this.#pending.waiting[0]?.order ?? before) >= before) return;
      else if (!(await this.#turn(before))) await this.#waitForLock();
      // A long group takes several turns.
      else if (this.#groups.isOpen) await nextTurn();
    }
  }

  #waitForLock(): Promise<void> {
    return new Promise((resolve) => this.#retryLater(resolve));
  }
}
