import { serviceError } from '../../../errors/fail.ts';
import type { Connection } from '../connection.ts';

/** Writes in one commit: some 10 ms of work, after which others have their turn. */
const LARGEST_GROUP = 500;

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
}

/**
 * One durable commit for all writes that arrive in one turn of the event loop (docs/adr/0003): each fails alone and is
 * answered after the commit.
 */
export class GroupCommit {
  readonly #connection: Connection;
  readonly #events: CommitEvents;
  #waiting: Waiting[] = [];
  #scheduled = false;
  #alone: Promise<unknown> | undefined;
  #closed = false;

  constructor(connection: Connection, events: CommitEvents) {
    this.#connection = connection;
    this.#events = events;
  }

  /**
   * Runs `work` inside the next commit and resolves with its result once that is durable.
   * `work` is synchronous and leaves nothing behind when it throws (savepoint.ts), which rejects the promise.
   */
  run<T>(work: () => T): Promise<T> {
    if (this.#closed) return Promise.reject(serviceError('unavailable'));
    return new Promise<T>((resolve, reject) => {
      const attempt = () => {
        const result = work();
        return () => resolve(result);
      };
      this.#waiting.push({ attempt, reject });
      this.#schedule();
    });
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
    while (this.#alone) await this.#alone;
    if (this.#closed) throw serviceError('unavailable');
    this.#flushAll();
    const done = work();
    this.#alone = done.catch(() => undefined);
    try {
      return await done;
    } finally {
      this.#alone = undefined;
      if (this.#waiting.length > 0) this.#schedule();
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
    if (this.#waiting.length === 0 || this.#alone) return;
    const group = this.#waiting.slice(0, LARGEST_GROUP);
    this.#waiting = this.#waiting.slice(LARGEST_GROUP);
    if (this.#waiting.length > 0) this.#schedule();
    const done: (() => void)[] = [];
    try {
      this.#connection.execute('BEGIN IMMEDIATE');
      this.#events.began();
      for (const write of group) done.push(this.#attempt(write));
      this.#connection.execute('COMMIT');
    } catch (error) {
      this.#rollback();
      this.#events.rolledBack();
      for (const write of group) write.reject(error);
      return;
    }
    for (const answer of done) answer();
    this.#events.committed(group.length);
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
    while (this.#waiting.length > 0) this.#flush();
  }
}
