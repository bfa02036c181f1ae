import { inDoubtSince, unavailableSince } from '../../../errors/system-faults.ts';
import type { Connection } from '../connection/connection.ts';
import { missingError } from '../connection/map-error.ts';
import { foreignCommitsQuery, type WalLength } from '../connection/statements.ts';
import { WalFlush } from '../file/wal-flush.ts';
import { commit } from './transaction.ts';

/** The smallest write, of one page; it changes nothing. */
const EMPTY_WRITE = 'PRAGMA application_id = 0';

const foreignCommits = (connection: Connection) => connection.first(foreignCommitsQuery)?.[0];

/** What a commit needs to know of its file. */
export interface CommitEvents {
  /** Returns whether the file is still at its path. @param withinMs maximum age of the check */
  isInPlace(withinMs?: number): boolean;
  /** A flush has failed. */
  unflushed(error: unknown): void;
}

/**
 * Commits transactions of a connection without waiting for the disk on the event loop (docs/adr/0038): the connection's COMMIT appends to the WAL
 * and does not flush it (`synchronous = NORMAL`); the flush follows on another thread. The next transaction may begin meanwhile; it is committed
 * after the flush.
 */
export class DurableCommit {
  readonly #connection: Connection;
  readonly #events: CommitEvents;
  readonly #log: WalFlush;
  /** Opening of the connection for which `synchronous` is set. */
  #opening = Number.NaN;
  /** Pages in the WAL before the open transaction, and before the one that is flushed. */
  #pages = 0;
  #flushedFrom = 0;
  /** First page of the WAL of which a flush has failed. What is acknowledged later depends on these pages. */
  #unflushedFrom: number | null = null;
  #flushing: Promise<void> | undefined;

  constructor(connection: Connection, events: CommitEvents) {
    this.#connection = connection;
    this.#events = events;
    this.#log = new WalFlush(connection);
  }

  /**
   * Begins a write transaction. First makes durable what an earlier flush has failed to, and the first page of the WAL where SQLite would begin it
   * anew.
   * @returns false if another process holds the write lock
   * @throws unavailable
   */
  begin(): boolean | Promise<boolean> {
    this.#prepare();
    const log = this.#connection.logLength();
    const isNew = log !== null && log.copied === log.pages;
    if (isNew || this.#unflushedFrom !== null) return this.#beginAfterFlush();
    // Another process has begun the WAL anew, and its flush may not have ended.
    return log?.pages === 1 ? this.#beginAfterFirstPage() : this.#begin();
  }

  /** Begins where the WAL has only the page of `#startLog`, which must be durable before others follow. */
  async #beginAfterFirstPage(): Promise<boolean> {
    if (this.#flushing) await this.#flushing.catch(() => {});
    this.#flushedFrom = 0;
    const error = await this.#flush();
    if (error) throw unavailableSince(error);
    return this.#begin();
  }

  /** Begins a transaction of which it is known where it begins in the WAL. @returns false if another process holds the write lock */
  #begin(): boolean {
    const connection = this.#connection;
    for (;;) {
      const foreign = foreignCommits(connection);
      // Not known within a transaction.
      this.#pages = connection.logLength()?.pages ?? 0;
      if (!connection.begin()) return false;
      if (foreignCommits(connection) === foreign) return true;
      // Another process has been faster.
      connection.rollback();
    }
  }

  /** A new connection flushes with every COMMIT. */
  #prepare(): void {
    const { openings } = this.#connection;
    if (openings === this.#opening) return;
    this.#connection.execute('PRAGMA synchronous = NORMAL');
    this.#opening = openings;
    // What was closed before may have been copied into the file, or another WAL may have begun.
    if (this.#unflushedFrom !== null) this.#unflushedFrom = 0;
  }

  async #beginAfterFlush(): Promise<boolean> {
    if (this.#flushing) await this.#flushing.catch(() => {});
    else if (this.#unflushedFrom === null) return (await this.#startLog()) && this.#begin();
    else if (!(await this.#flushAgain())) return false;
    return this.begin();
  }

  /**
   * Begins the WAL anew, if no reader uses it, by a write of a single page. SQLite would flush the header in that COMMIT, on the event loop: pages
   * after the first one that reach the disk before it would leave old ones in front of them valid, which the file has overtaken. A first page alone
   * leaves none.
   */
  async #startLog(): Promise<boolean> {
    const connection = this.#connection;
    connection.execute('PRAGMA synchronous = OFF');
    try {
      if (!connection.begin()) return false;
      connection.execute(EMPTY_WRITE);
      commit(connection, (withinMs) => this.#events.isInPlace(withinMs));
    } catch (error) {
      connection.rollback();
      throw error;
    } finally {
      if (connection.isOpen && !connection.isBroken) connection.execute('PRAGMA synchronous = NORMAL');
      else this.#opening = Number.NaN;
    }
    this.#flushedFrom = 0;
    const error = await this.#flush();
    if (error) throw unavailableSince(error);
    return true;
  }

  /** @returns false if another process holds the write lock @throws unavailable if the flush fails again */
  async #flushAgain(): Promise<boolean> {
    if (!this.#rewrite()) return false;
    const error = await this.#flush();
    if (error) throw unavailableSince(error);
    return true;
  }

  /** Writes the pages again whose flush has failed. @returns false if another process holds the write lock */
  #rewrite(): boolean {
    const connection = this.#connection;
    const holdsLock = connection.isTransaction;
    if (!holdsLock && !connection.begin()) return false;
    try {
      this.#log.rewrite(this.#unflushedFrom ?? 0);
    } catch (error) {
      throw unavailableSince(error);
    } finally {
      if (!holdsLock) connection.rollback();
    }
    return true;
  }

  /** @returns the error of a flush that has failed */
  async #flush(): Promise<unknown> {
    try {
      await this.#log.flush();
      this.#unflushedFrom = null;
      return null;
    } catch (error) {
      this.#unflushedFrom ??= this.#flushedFrom;
      this.#events.unflushed(error);
      return error;
    }
  }

  /**
   * Commits the open transaction, from when on other connections see it, and begins to flush it. Call while nothing is flushed.
   * @param isHeld whether a reader keeps the snapshot before: only then nobody copies the transaction into the file, and it can be undone
   * @returns `log`: the WAL with it, `null` if that is not known; `flushed` resolves when it is durable, rejects with unavailable if it is undone, with
   * outcomeUnknown if that is uncertain
   * @throws unavailable if nothing was written, even after a crash; outcomeUnknown if that is uncertain
   */
  commit(isHeld = true): { readonly log: WalLength | null; readonly flushed: Promise<void> } {
    commit(this.#connection, (withinMs) => this.#events.isInPlace(withinMs));
    const log = this.#connection.logLength();
    // With fewer pages, SQLite has begun the WAL anew.
    this.#flushedFrom = (log?.pages ?? 0) < this.#pages ? 0 : this.#pages;
    this.#flushing = this.#flushed(isHeld ? log : null).finally(() => {
      this.#flushing = undefined;
    });
    return { log, flushed: this.#flushing };
  }

  /** @param log the WAL that ends with the transaction; `null` if it cannot be undone */
  async #flushed(log: WalLength | null): Promise<void> {
    const error = await this.#flush();
    // A fault may last for a moment only.
    if (error && !(await this.#flushAgain().catch(() => false)))
      throw log && this.#undo(log) ? unavailableSince(error) : inDoubtSince(error);
    if (!this.#events.isInPlace()) throw inDoubtSince(missingError(this.#connection.path).cause);
  }

  /**
   * Takes back the transaction whose flush has failed, and the open one. Not if another process has written after it: that would be lost.
   * @param log that ends with the transaction
   * @returns whether it is undone, even after a crash
   */
  #undo({ pages }: WalLength): boolean {
    const connection = this.#connection;
    try {
      connection.rollback();
      if (connection.openings !== this.#opening) return false;
      const foreign = foreignCommits(connection);
      // Not known within a transaction.
      const isLast = connection.logLength()?.pages === pages;
      if (!connection.begin()) return false;
      if (!isLast || foreignCommits(connection) !== foreign) throw new Error('another process has written');
      this.#log.cut(this.#flushedFrom);
      connection.rollback();
      // Reads the WAL again.
      if (!connection.begin()) return false;
      connection.rollback();
      return (connection.logLength()?.pages ?? 0) <= this.#flushedFrom;
    } catch {
      connection.rollback();
      return false;
    }
  }

  /** See `WalFlush.flushFile`. */
  flushFile(): Promise<void> {
    return this.#log.flushFile();
  }

  /** Call when the connection is closed. */
  closed(): void {
    this.#log.closed();
  }

  /** Lets the connection flush by itself from now on. Call while no transaction is open. */
  close(): void {
    this.#log.close();
    try {
      this.#connection.execute('PRAGMA synchronous = FULL');
    } catch {
      // It cannot write any more.
    }
  }
}
