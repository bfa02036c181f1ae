import { setImmediate as nextTurn } from 'node:timers/promises';
import { isUnavailable, serviceError } from '../../../errors/fail.ts';
import { nextWriteOrder } from '../../../kernel/ids.ts';
import type { Connection } from '../connection/connection.ts';
import { busyError, storeFaultOf } from '../connection/map-error.ts';
import { commit } from './transaction.ts';
import { WriteBehind } from './write-behind.ts';

/** Writes in one commit: some 10 ms of work, after which others have their turn. */
const MAX_GROUP = 500;
/** Milliseconds of work after which a group is committed as it is: single writes to large records take a hundred times as long as others. */
const MAX_GROUP_MS = 50;

/** Milliseconds between two tries to get a write lock that another process holds: short ones first, and never in step with its own tries. */
const FIRST_TRY_MS = 1;
const MAX_TRY_MS = 20;
/** Milliseconds that a write waits for it, and those after which it is told that another process holds it. */
const MAX_WAIT_MS = 5_000;
const TOLD_AFTER_MS = 1_000;

interface Waiting {
  /** As of `PreparedWrite.order`. */
  readonly order: number;
  /** Does the work, as a whole or not at all, and returns what answers it once the commit is durable. */
  readonly attempt: () => () => void;
  readonly reject: (error: unknown) => void;
  /** Since when another process has kept it waiting, by `performance.now()`. */
  heldSince?: number;
}

interface RunOptions {
  readonly order?: number | undefined;
  readonly afterAll?: boolean;
}

/** What a group commit asks and tells the store. What these throw harms nobody. */
export interface WriteQueueEvents {
  /** The group's transaction has begun: nobody else can write until its end. */
  began(): void;
  /** Whether the file that was written to is still where others look for it. @param withinMs how old a look may be that counts */
  isInPlace(withinMs?: number): boolean;
  /** A group of so many writes is durable. */
  committed(writes: number): void;
  /** A whole group failed: what its writes did in memory is to be forgotten. */
  rolledBack(): void;
  /** Another process holds the write lock: writes wait for it. Told again while it does. */
  busy(error: unknown): void;
  /** Work that nobody waits for is dropped, since too much of it waits (told once until none waits) or for the error. */
  dropped(error?: unknown): void;
  /** Resolves once the store works again after a fault that can pass; never rejects. */
  whenBack(): Promise<void>;
}

/**
 * One durable commit for all writes that arrive in one turn of the event loop (docs/adr/0003): each fails alone and is
 * answered after the commit. Another process's write lock is waited for without holding up the event loop.
 */
export class WriteQueue {
  readonly #connection: Connection;
  readonly #events: WriteQueueEvents;
  #waiting: Waiting[] = [];
  readonly #behind: WriteBehind;
  #scheduled = false;
  /** Waits for another process's lock, for the next try. */
  #nextTry: NodeJS.Timeout | undefined;
  #tryAfter = FIRST_TRY_MS;
  #busySince: number | undefined;
  /** Those that are alone, or wait to be, and the last of them. */
  #alones = 0;
  #lastAlone: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(connection: Connection, events: WriteQueueEvents) {
    this.#connection = connection;
    this.#events = events;
    this.#behind = new WriteBehind({
      due: () => this.#schedule(),
      dropped: () => harmless(() => this.#events.dropped()),
      whenBack: () => this.#events.whenBack(),
    });
  }

  /**
   * Runs `work` inside the next commit and resolves with its result once that is durable.
   * `work` is synchronous and leaves nothing behind when it throws (transaction.ts), which rejects the promise.
   * @param options `order` as of `PreparedWrite`; `afterAll`: whether it is to see what the work does that nobody waits for
   * @throws unavailable where nothing was done; outcomeUnknown where that is not certain
   */
  run<T>(work: () => T, { order = nextWriteOrder(), afterAll = false }: RunOptions = {}): Promise<T> {
    if (this.#closed) return Promise.reject(serviceError('unavailable'));
    if (afterAll) this.#behind.takeAlong();
    return new Promise<T>((resolve, reject) => {
      const attempt = () => {
        const result = work();
        return () => resolve(result);
      };
      // Those that came in between are few: they were faster by some steps of one turn.
      const before = this.#waiting.findLastIndex((write) => write.order < order);
      this.#waiting.splice(before + 1, 0, { order, attempt, reject });
      this.#schedule();
    });
  }

  /**
   * Runs `work` in a commit soon, before the writes that wait for that. Nobody is told of its end. Where the commit meets a fault that can
   * pass it is tried again after that.
   * @param work as for `run`; it reports its errors itself, except those that end the transaction
   */
  runBehind(work: () => void): void {
    if (!this.#closed) this.#behind.add(work);
  }

  get #isIdle(): boolean {
    return this.#waiting.length === 0 && !this.#behind.isDue;
  }

  #schedule(): void {
    if (this.#scheduled || this.#nextTry || this.#alones > 0 || this.#isIdle) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      if (this.#alones > 0 || this.#isIdle) return;
      if (this.#flush()) this.#schedule();
      else this.#tryLater(() => this.#schedule());
    });
  }

  /** Another process holds the write lock. Writes that have waited too long for it are refused. */
  #tryLater(next: () => void): void {
    const now = performance.now();
    this.#busySince ??= now;
    const error = busyError();
    if (now - this.#busySince > TOLD_AFTER_MS) harmless(() => this.#events.busy(error));
    const expired: Waiting[] = [];
    this.#waiting = this.#waiting.filter((write) => {
      write.heldSince ??= now;
      if (now - write.heldSince < MAX_WAIT_MS) return true;
      expired.push(write);
      return false;
    });
    for (const write of expired) write.reject(error);
    const again = () => {
      this.#nextTry = undefined;
      next();
    };
    this.#nextTry = setTimeout(again, this.#tryAfter * (0.5 + Math.random()));
    this.#tryAfter = Math.min(MAX_TRY_MS, this.#tryAfter * 2);
  }

  /** Begins a transaction. @returns false where another process holds the write lock @throws unavailable */
  #begin(): boolean {
    if (!this.#connection.begin()) return false;
    this.#busySince = undefined;
    this.#tryAfter = FIRST_TRY_MS;
    return true;
  }

  /** Does work that writes through another connection, after all writes so far; later ones wait for its end. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    return (await this.aloneWhere(() => true, work)) as T;
  }

  /**
   * The same where it is still due when its turn comes.
   * @param order as of `PreparedWrite`: only writes before it are done first
   * @returns `null` where it is not
   */
  async aloneWhere<T>(isDue: () => boolean, work: () => Promise<T>, order = Number.POSITIVE_INFINITY): Promise<T | null> {
    const before = this.#lastAlone;
    const { promise, resolve: end } = Promise.withResolvers<void>();
    this.#lastAlone = promise;
    this.#alones++;
    await before;
    try {
      // Writes that came before it in this turn may still be on their way.
      await nextTurn();
      if (this.#closed) throw serviceError('unavailable');
      await this.#flushAll(order);
      if (!isDue()) return null;
      return await work();
    } finally {
      this.#alones--;
      end();
      this.#schedule();
    }
  }

  /** One commit for all that `work` does through this connection, undone where it throws. Other writes wait for its end. */
  whole<T>(work: () => Promise<T>): Promise<T> {
    return this.alone(async () => {
      for (const until = performance.now() + MAX_WAIT_MS; !this.#begin(); await this.#lockPause())
        if (performance.now() > until) throw busyError();
      try {
        this.#events.began();
        const result = await work();
        commit(this.#connection, (withinMs) => this.#events.isInPlace(withinMs));
        return result;
      } catch (error) {
        this.#undo();
        throw this.#connection.sorted(error);
      }
    });
  }

  /**
   * Commits what waits, a group of it at the most, now. Never throws: whatever fails, each write of the group is answered.
   * @param before only writes with lower numbers
   * @returns false where another process holds the write lock
   */
  #flush(before = Number.POSITIVE_INFINITY): boolean {
    let group: Waiting[] = [];
    let behind: (() => void)[] = [];
    const done: (() => void)[] = [];
    const until = performance.now() + MAX_GROUP_MS;
    try {
      if (!this.#begin()) return false;
      behind = this.#behind.take();
      if (behind.length === 0 || !this.#behind.isApart) {
        const end = this.#waiting.findLastIndex(({ order }) => order < before) + 1;
        group = this.#waiting.splice(0, Math.min(MAX_GROUP, end));
      }
      this.#events.began();
      // It came about before the writes that wait: a user whose request was logged is not deleted first.
      for (const work of behind) work();
      for (const write of group) {
        done.push(this.#attempt(write));
        if (performance.now() > until) break;
      }
      // First in the next turn.
      this.#waiting = [...group.splice(done.length), ...this.#waiting];
      commit(this.#connection, (withinMs) => this.#events.isInPlace(withinMs));
    } catch (error) {
      // Nothing of it has begun where the file cannot be used at all.
      if (group.length + behind.length === 0) group = this.#waiting.splice(0);
      this.#failed(this.#connection.sorted(error), group, behind);
      return true;
    }
    for (const answer of done) answer();
    if (behind.length > 0) this.#behind.done();
    harmless(() => this.#events.committed(group.length + behind.length));
    return true;
  }

  #failed(error: unknown, group: readonly Waiting[], behind: readonly (() => void)[]): void {
    this.#undo();
    for (const write of group) write.reject(error);
    if (isUnavailable(error)) this.#behind.hold(behind);
    // Tried again it would fail again, or be there twice.
    else if (behind.length > 0) harmless(() => this.#events.dropped(error));
    else if (group.length === 0) this.#behind.leave();
  }

  #undo(): void {
    this.#connection.rollback();
    harmless(() => this.#events.rolledBack());
  }

  #attempt(write: Waiting): () => void {
    try {
      return write.attempt();
    } catch (error) {
      const sorted = this.#connection.sorted(error);
      // A full disk or a failing one ends the transaction itself; then the whole group has failed. So it has where what was written of it
      // may be half a write.
      if (!this.#connection.isTransaction || storeFaultOf(sorted)?.isBroken) throw sorted;
      return () => write.reject(sorted);
    }
  }

  /** Commits what waits and refuses what comes. Never rejects. */
  async close(): Promise<void> {
    this.#behind.release();
    await this.alone(async () => {
      this.#closed = true;
      this.#behind.close();
    }).catch(() => {});
    clearTimeout(this.#nextTry);
  }

  /** Commits all that waits. @param before only writes with lower numbers */
  async #flushAll(before: number): Promise<void> {
    this.#behind.takeAlong();
    while (this.#behind.isDue || (this.#waiting[0]?.order ?? before) < before) if (!this.#flush(before)) await this.#lockPause();
  }

  #lockPause(): Promise<void> {
    return new Promise((resolve) => this.#tryLater(resolve));
  }
}

/** What the store does at this moment may fail as the commit did. */
function harmless(work: () => void): void {
  try {
    work();
  } catch {
    // It looks again by itself, at the next commit or read.
  }
}
