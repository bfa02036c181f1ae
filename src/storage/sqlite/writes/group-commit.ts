import { isUnavailable } from '../../../errors/fail.ts';
import { unavailableSince } from '../../../errors/system-faults.ts';
import type { Connection } from '../connection/connection.ts';
import { storeFaultOf } from '../connection/map-error.ts';
import type { WalLength } from '../connection/statements.ts';
import type { CommitEvents, DurableCommit } from './durable-commit.ts';
import { Gathering } from './gathering.ts';
import type { WriteBehind } from './write-behind.ts';

/** Work after which a group is committed as it is: single writes to large records take a hundred times as long as others. */
const MAX_GROUP_MS = 50;
/** Work after which the event loop gets a turn in the middle of a group. */
const MAX_TURN_MS = 1;

/** A write that waits for its commit. */
export interface WaitingWrite {
  /** See `PreparedWrite`. */
  readonly order: number;
  /** Executes the write, entirely or not at all, and returns the function that resolves it once the commit is durable. */
  readonly attempt: () => () => void;
  readonly reject: (error: unknown) => void;
  /** Since when it has waited for another process, by `performance.now()`. */
  waitingSince?: number;
}

/** Callbacks of a commit. Errors that they throw are ignored, except those of `began` and `isInPlace`. */
export interface GroupEvents extends CommitEvents {
  /**
   * A transaction has begun: no other connection can write until its end, and this one shows what is not committed yet.
   * @param isAlone whether it is one work, which may read what it has written, instead of a group
   */
  began(isAlone?: boolean): void;
  /**
   * The transaction is committed: other connections see it. It is not durable yet, and no other has begun.
   * @param log the WAL with it; `null` if that is not known
   */
  appended(log: WalLength | null): void;
  /** The transaction is durable, or in doubt. @param hasNext whether the next one has begun */
  ended(hasNext?: boolean): void;
  /** The transaction could not be flushed and is undone, after other connections have seen it. */
  undone(): void;
  /** A group of this many writes is durable. @param ms since its transaction began */
  committed(writes: number, ms: number): void;
  /** The open transaction failed: its in-memory effects must be discarded. @param isFlushing whether the one before is not durable yet */
  rolledBack(isFlushing?: boolean): void;
  /** Write-behind work was dropped, because of the error or because too much is pending (reported once until the queue is empty). */
  dropped(error?: unknown): void;
}

/** What is to be committed. */
export interface Pending {
  /** In their order. */
  waiting: WaitingWrite[];
  readonly behind: WriteBehind;
}

/** The writes of one transaction. */
interface Group {
  /** That were executed, and the one that is. */
  readonly writes: WaitingWrite[];
  readonly behind: (() => void)[];
  /** Answers of the executed writes. */
  readonly done: (() => void)[];
  /** Those that were refused, and did nothing. */
  readonly refused: Set<WaitingWrite>;
  readonly began: number;
  workMs: number;
}

/**
 * Commits pending writes as groups: one transaction each, in which a failing write does not affect the others. A group is executed while the one before
 * is flushed, and committed when that is durable.
 */
export class GroupCommit {
  readonly #connection: Connection;
  readonly #durable: DurableCommit;
  readonly #events: GroupEvents;
  readonly #pending: Pending;
  readonly #gathering: Gathering;
  #open: Group | undefined;
  #flushing: Promise<boolean> | undefined;
  /** Wait for the end of a group. */
  #waiters: (() => void)[] = [];

  /** @param due called when a group has waited long enough for more writes */
  constructor(connection: Connection, durable: DurableCommit, events: GroupEvents, pending: Pending, due: () => void) {
    this.#connection = connection;
    this.#durable = durable;
    this.#events = events;
    this.#pending = pending;
    this.#gathering = new Gathering(due);
  }

  /** Resolves when the next group is durable, in doubt or undone; `undefined` if there is none. */
  nextEnd(): Promise<void> | undefined {
    if (!this.#open && !this.#flushing) return undefined;
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  #ended(): void {
    for (const resolve of this.#waiters.splice(0)) resolve();
  }

  /** Whether a group has begun that is not committed yet. */
  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  /** Whether the open group waits for more writes. */
  get isGathering(): boolean {
    return this.#gathering.isWaiting;
  }

  /** Whether the open group takes no more writes until it is committed. */
  get isFull(): boolean {
    const group = this.#open;
    return group !== undefined && (group.writes.length >= this.#gathering.limit || group.workMs >= MAX_GROUP_MS);
  }

  /** Whether the commit that is flushed becomes durable; `undefined` if none is. Never rejects. */
  get flushing(): Promise<boolean> | undefined {
    return this.#flushing;
  }

  /**
   * Executes pending writes for one turn of the event loop. Commits the group when nothing is left, or it is full, and the one before is durable.
   * Never fails: each write is answered in any case.
   * @param before only writes with lower numbers
   * @returns false if another process holds the write lock
   */
  turn(before: number): boolean | Promise<boolean> {
    try {
      if (this.#open) return this.#work(before);
      const begun = this.#durable.begin();
      if (typeof begun !== 'boolean') return this.#turnOnceBegun(begun, before);
      if (begun) this.#began(before);
      return begun;
    } catch (error) {
      return this.#failed(error);
    }
  }

  /** What has to be flushed before the group can begin comes first. */
  async #turnOnceBegun(beginning: Promise<boolean>, before: number): Promise<boolean> {
    try {
      const begun = await beginning;
      if (begun) this.#began(before);
      return begun;
    } catch (error) {
      return this.#failed(error);
    }
  }

  #began(before: number): void {
    this.#open = { writes: [], behind: [], done: [], refused: new Set(), began: performance.now(), workMs: 0 };
    this.#events.began();
    this.#work(before);
  }

  #work(before: number): true {
    const group = this.#open as Group;
    // Whatever has found a fault meanwhile may have ended the transaction.
    if (!this.#connection.isTransaction) throw unavailableSince(new Error('the transaction has ended'));
    const isDone = this.#execute(group, before);
    if (this.#flushing || !(isDone || this.isFull)) return true;
    // Where only some writes are to be committed, others wait for that.
    if (before === Number.POSITIVE_INFINITY && !this.isFull && this.#gathering.shouldWait(group.writes.length)) return true;
    this.#commit(group);
    return true;
  }

  /** @returns whether nothing is left */
  #execute(group: Group, before: number): boolean {
    const { waiting, behind } = this.#pending;
    const began = performance.now();
    // Write-behind work is older than the pending writes: e.g. a user must not be deleted before their request is logged.
    const taken = behind.take();
    group.behind.push(...taken);
    for (const work of taken) work();
    if (group.behind.length > 0 && behind.isApart) return true;
    let count = 0;
    for (; count < waiting.length && performance.now() - began <= MAX_TURN_MS && !this.isFull; count++) {
      const write = waiting[count] as WaitingWrite;
      if (write.order >= before) break;
      group.writes.push(write);
      group.done.push(this.#attempt(write, group));
    }
    group.workMs += performance.now() - began;
    waiting.splice(0, count);
    return waiting.length === 0 || (waiting[0] as WaitingWrite).order >= before;
  }

  #attempt(write: WaitingWrite, { refused }: Group): () => void {
    try {
      return write.attempt();
    } catch (error) {
      const mapped = this.#connection.mapError(error);
      // A full or failing disk ends the transaction itself; then the whole group has failed. The same applies if a write may be half done.
      if (!this.#connection.isTransaction || storeFaultOf(mapped)?.isBroken) throw mapped;
      refused.add(write);
      return () => write.reject(mapped);
    }
  }

  #commit(group: Group): void {
    this.#gathering.committed(group.writes.length);
    const { log, flushed } = this.#durable.commit();
    this.#open = undefined;
    ignoringErrors(() => this.#events.appended(log));
    this.#flushing = flushed.then(
      () => this.#end(group),
      (error) => this.#end(group, error),
    );
  }

  /** Answers the writes of a group. @param error if it is not durable @returns whether it is */
  #end({ writes, behind, done, refused, began }: Group, error?: unknown): boolean {
    this.#flushing = undefined;
    // The next one depends on it.
    if (error && this.#open) this.#failed(unavailableSince(error));
    const isUndone = isUnavailable(error);
    ignoringErrors(() => (isUndone ? this.#events.undone() : this.#events.ended(this.isOpen)));
    // What refused a write, such as a value that another has taken, may be undone too.
    for (const [at, write] of writes.entries())
      if (error && (isUndone || !refused.has(write))) write.reject(error);
      else done[at]?.();
    this.#gathering.answered(writes.length, (this.#open?.writes.length ?? 0) + this.#pending.waiting.length);
    if (isUndone) this.#pending.behind.hold(behind);
    else if (behind.length > 0) this.#pending.behind.done();
    if (!error) ignoringErrors(() => this.#events.committed(writes.length + behind.length, performance.now() - began));
    this.#ended();
    return !error;
  }

  /** @returns true */
  #failed(thrown: unknown): true {
    const error = this.#connection.mapError(thrown);
    const { waiting, behind } = this.#pending;
    const group = this.#open;
    this.#open = undefined;
    this.#gathering.stop();
    this.#connection.rollback();
    ignoringErrors(() => this.#events.rolledBack(this.#flushing !== undefined));
    // If the file cannot be used at all, no group was formed: reject all.
    const failed = group && group.writes.length + group.behind.length > 0 ? group.writes : waiting.splice(0);
    // Those that are executed are still the first of the pending ones.
    for (const write of failed) if (waiting[0] === write) waiting.shift();
    for (const write of failed) write.reject(error);
    const work = group?.behind ?? [];
    if (isUnavailable(error)) behind.hold(work);
    // Do not try again: it would fail again, or be executed twice.
    else if (work.length > 0) ignoringErrors(() => this.#events.dropped(error));
    else if (failed.length === 0) behind.leave();
    this.#ended();
    return true;
  }
}

/** Runs a callback of the store, which may fail for the same reason as the commit. */
export function ignoringErrors(work: () => void): void {
  try {
    work();
  } catch {
    // The store checks its state again at the next commit or read.
  }
}
