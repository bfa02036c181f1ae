import { serviceError } from '../../../errors/fail.ts';
import type { Connection } from '../connection.ts';

/** Writes in one commit: some 10 ms of work, after which others have their turn. */
const LARGEST_GROUP = 500;
/** Milliseconds of work after which a group is committed as it is: single writes to large records take a hundred times as long as others. */
const LONGEST_GROUP_MS = 50;

/**
 * How long work that nobody waits for is kept back at the most, in milliseconds. A commit writes whole pages, so rows at the end of a table
 * cost a tenth where many of them share one, of what they cost where a few go along with each.
 */
const LATEST = 200;
/** Such work beyond which it is carried out at once, and the time of a commit is bounded. */
const LARGEST_BEHIND = 500;
/** Such work that waits, for the end of a long schema change say, beyond which further work is dropped. */
const MOST_BEHIND = 10_000;

interface Waiting {
  /** Does the work, as a whole or not at all, and returns what answers it once the commit is durable. */
  readonly attempt: () => () => void;
  readonly reject: (error: unknown) => void;
}

/** What a group commit tells the store. */
export interface CommitEvents {
  /** The group's transaction has begun: nobody else can write until its end. */
  began(): void;
  /** A group of so many writes is durable. */
  committed(writes: number): void;
  /** A whole group failed: what its writes did in memory is to be forgotten. */
  rolledBack(): void;
  /** Work that nobody waits for is dropped, since too much of it waits. Told once until none waits. */
  overflowed(): void;
}

/**
 * One durable commit for all writes that arrive in one turn of the event loop (docs/adr/0003): each fails alone and is
 * answered after the commit.
 */
export class GroupCommit {
  readonly #connection: Connection;
  readonly #events: CommitEvents;
  #waiting: Waiting[] = [];
  /** Work that nobody waits for, and whether the next commit is to take it along. */
  #behind: (() => void)[] = [];
  #isBehindDue = false;
  #overflowing = false;
  #latest: NodeJS.Timeout | undefined;
  #scheduled = false;
  #alone: Promise<unknown> | undefined;
  /** Those that wait to be alone. */
  readonly #nextAlone: (() => void)[] = [];
  #closed = false;

  constructor(connection: Connection, events: CommitEvents) {
    this.#connection = connection;
    this.#events = events;
  }

  /**
   * Runs `work` inside the next commit and resolves with its result once that is durable.
   * `work` is synchronous and leaves nothing behind when it throws (savepoint.ts), which rejects the promise.
   * @param afterAll whether it is to see what the work does that nobody waits for
   */
  run<T>(work: () => T, afterAll = false): Promise<T> {
    if (this.#closed) return Promise.reject(serviceError('unavailable'));
    if (afterAll) this.#isBehindDue = true;
    return new Promise<T>((resolve, reject) => {
      const attempt = () => {
        const result = work();
        return () => resolve(result);
      };
      this.#waiting.push({ attempt, reject });
      this.#schedule();
    });
  }

  /**
   * Runs `work` in a commit soon, before the writes that wait for that. Nobody is told of its end.
   * @param work as for `run`; it reports its errors itself, except those that end the transaction
   */
  runBehind(work: () => void): void {
    if (this.#closed) return;
    if (this.#behind.length >= MOST_BEHIND) {
      if (!this.#overflowing) this.#events.overflowed();
      this.#overflowing = true;
      return;
    }
    this.#behind.push(work);
    if (this.#behind.length >= LARGEST_BEHIND) this.#takeBehindAlong();
    else this.#latest ??= setTimeout(() => this.#takeBehindAlong(), LATEST);
  }

  #takeBehindAlong(): void {
    this.#isBehindDue = true;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled || this.#alone) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#flush();
    });
  }

  /** Does work that writes through another connection, after all writes so far; later ones wait for its end. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    return (await this.aloneWhere(() => true, work)) as T;
  }

  /**
   * The same where it is still due when its turn comes.
   * @returns `null` where it is not
   */
  async aloneWhere<T>(isDue: () => boolean, work: () => Promise<T>): Promise<T | null> {
    while (this.#alone) await new Promise<void>((resolve) => this.#nextAlone.push(resolve));
    try {
      if (this.#closed) throw serviceError('unavailable');
      if (!isDue()) return null;
      this.#flushAll();
      const done = work();
      this.#alone = done.catch(() => undefined);
      return await done;
    } finally {
      this.#alone = undefined;
      this.#nextAlone.shift()?.();
      if (this.#waiting.length > 0 || this.#isBehindDue) this.#schedule();
    }
  }

  /** One commit for all that `work` does through this connection, undone where it throws. Other writes wait for its end. */
  whole<T>(work: () => Promise<T>): Promise<T> {
    return this.alone(async () => {
      this.#connection.execute('BEGIN IMMEDIATE');
      try {
        this.#events.began();
        const result = await work();
        this.#connection.execute('COMMIT');
        return result;
      } catch (error) {
        this.#rollback();
        this.#events.rolledBack();
        throw error;
      }
    });
  }

  /** Commits what waits, a group of it at the most, now. */
  #flush(): void {
    if (this.#alone || (this.#waiting.length === 0 && !this.#isBehindDue)) return;
    const group = this.#waiting.slice(0, LARGEST_GROUP);
    this.#waiting = this.#waiting.slice(LARGEST_GROUP);
    const behind = this.#isBehindDue ? this.#takeBehind() : [];
    if (group.length === 0 && behind.length === 0) return;
    const done: (() => void)[] = [];
    const until = performance.now() + LONGEST_GROUP_MS;
    try {
      this.#connection.execute('BEGIN IMMEDIATE');
      this.#events.began();
      // It came about before the writes that wait: a user whose request was logged is not deleted first.
      for (const work of behind) work();
      for (const write of group) {
        done.push(this.#attempt(write));
        if (performance.now() > until) break;
      }
      // First in the next turn.
      this.#waiting = [...group.splice(done.length), ...this.#waiting];
      this.#connection.execute('COMMIT');
    } catch (error) {
      this.#rollback();
      this.#events.rolledBack();
      for (const write of group) write.reject(error);
      return;
    } finally {
      if (this.#waiting.length > 0 || this.#isBehindDue) this.#schedule();
    }
    for (const answer of done) answer();
    this.#events.committed(group.length + behind.length);
  }

  #takeBehind(): (() => void)[] {
    const taken = this.#behind.slice(0, LARGEST_BEHIND);
    this.#behind = this.#behind.slice(LARGEST_BEHIND);
    if (this.#behind.length > 0) return taken;
    this.#isBehindDue = false;
    this.#overflowing = false;
    clearTimeout(this.#latest);
    this.#latest = undefined;
    return taken;
  }

  #attempt(write: Waiting): () => void {
    try {
      return write.attempt();
    } catch (error) {
      // A full disk or a failing one ends the transaction itself; then the whole group has failed.
      if (!this.#connection.db.isTransaction) throw error;
      return () => write.reject(error);
    }
  }

  #rollback(): void {
    try {
      this.#connection.execute('ROLLBACK');
    } catch {
      // No transaction is open: SQLite has rolled back by itself.
    }
  }

  /** Commits what waits and refuses what comes. */
  async close(): Promise<void> {
    while (this.#alone) await this.#alone;
    this.#flushAll();
    this.#closed = true;
  }

  #flushAll(): void {
    this.#isBehindDue = this.#behind.length > 0;
    while (this.#waiting.length > 0 || this.#behind.length > 0) this.#flush();
  }
}
