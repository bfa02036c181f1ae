import { setImmediate as nextTurn } from 'node:timers/promises';
import { isUnavailable } from '../../../errors/fail.ts';
import { unavailableSince } from '../../../errors/system-faults.ts';
import type { Connection } from '../connection/connection.ts';
import { storeFaultOf } from '../connection/map-error.ts';
import type { CommitEvents, DurableCommit } from './durable-commit.ts';
import type { WriteBehind } from './write-behind.ts';

/** Maximum writes in one commit. */
const MAX_GROUP_WRITES = 500;
/** Time after which a group is committed as it is: single writes to large records take a hundred times as long as others. */
const MAX_GROUP_MS = 50;
/** Time after which the event loop gets a turn in the middle of a group. */
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
  /** The transaction is durable, or in doubt. */
  ended(): void;
  /** A group of this many writes is durable. @param ms since its transaction began */
  committed(writes: number, ms: number): void;
  /** A whole group failed: its in-memory effects must be discarded. */
  rolledBack(): void;
  /** Write-behind work was dropped, because of the error or because too much is pending (reported once until the queue is empty). */
  dropped(error?: unknown): void;
}

/** What is committed. */
export interface Pending {
  /** In their order. */
  waiting: WaitingWrite[];
  readonly behind: WriteBehind;
}

/** The writes of one commit. */
interface Group {
  writes: WaitingWrite[];
  behind: (() => void)[];
  /** Answers of the executed writes. */
  readonly done: (() => void)[];
  /** Those that were refused, and did nothing. */
  readonly refused: Set<WaitingWrite>;
}

/** Commits pending writes as groups: one transaction each, in which a failing write does not affect the others. */
export class GroupCommit {
  readonly #connection: Connection;
  readonly #durable: DurableCommit;
  readonly #events: GroupEvents;

  constructor(connection: Connection, durable: DurableCommit, events: GroupEvents) {
    this.#connection = connection;
    this.#durable = durable;
    this.#events = events;
  }

  /**
   * Commits one group of pending writes. Never rejects: each write of the group is answered in any case.
   * @param before only writes with lower numbers
   * @returns false if another process holds the write lock
   */
  async commitNext(pending: Pending, before: number): Promise<boolean> {
    const group: Group = { writes: [], behind: [], done: [], refused: new Set() };
    const began = performance.now();
    try {
      // No await without need: it costs a turn of the queue of promises.
      const begun = this.#durable.begin();
      if (!(typeof begun === 'boolean' ? begun : await begun)) return false;
      this.#form(group, pending, before);
      this.#events.began();
      await this.#execute(group);
      // The rest of the group goes first in the next one.
      pending.waiting = [...group.writes.splice(group.done.length), ...pending.waiting];
      this.#durable.commit();
    } catch (error) {
      this.#failed(this.#connection.mapError(error), group, pending);
      return true;
    }
    await this.#answer(group, pending.behind, began);
    return true;
  }

  #form(group: Group, { waiting, behind }: Pending, before: number): void {
    group.behind = behind.take();
    if (group.behind.length > 0 && behind.isApart) return;
    const end = waiting.findLastIndex(({ order }) => order < before) + 1;
    group.writes = waiting.splice(0, Math.min(MAX_GROUP_WRITES, end));
  }

  async #execute(group: Group): Promise<void> {
    const { writes, behind, done } = group;
    const until = performance.now() + MAX_GROUP_MS;
    let turnEnds = performance.now() + MAX_TURN_MS;
    const yielded = async () => {
      await nextTurn();
      // Whatever has found a fault meanwhile may have ended the transaction.
      if (!this.#connection.isTransaction) throw unavailableSince(new Error('the transaction has ended'));
      turnEnds = performance.now() + MAX_TURN_MS;
    };
    // Write-behind work is older than the pending writes: e.g. a user must not be deleted before their request is logged.
    for (const work of behind) {
      work();
      if (performance.now() > turnEnds) await yielded();
    }
    for (const write of writes) {
      if (performance.now() > turnEnds) await yielded();
      done.push(this.#attempt(write, group));
      if (performance.now() > until) return;
    }
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

  async #answer({ writes, behind, done, refused }: Group, pendingBehind: WriteBehind, began: number): Promise<void> {
    let doubt: unknown;
    try {
      await this.#durable.flushed();
    } catch (error) {
      doubt = error;
    }
    ignoringErrors(() => this.#events.ended());
    for (const [at, write] of writes.entries())
      if (doubt && !refused.has(write)) write.reject(doubt);
      else done[at]?.();
    if (behind.length > 0) pendingBehind.done();
    if (!doubt) ignoringErrors(() => this.#events.committed(writes.length + behind.length, performance.now() - began));
  }

  #failed(error: unknown, { writes, behind }: Group, pending: Pending): void {
    this.#connection.rollback();
    ignoringErrors(() => this.#events.rolledBack());
    // If the file cannot be used at all, no group was formed: reject all.
    const failed = writes.length + behind.length === 0 ? pending.waiting.splice(0) : writes;
    for (const write of failed) write.reject(error);
    if (isUnavailable(error)) pending.behind.hold(behind);
    // Do not try again: it would fail again, or be executed twice.
    else if (behind.length > 0) ignoringErrors(() => this.#events.dropped(error));
    else if (failed.length === 0) pending.behind.leave();
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
