import type { Contention } from '../../../kernel/contention.ts';
import type { Schema } from '../../../schema/model.ts';
import { deletesRecord } from '../../column-values.ts';
import type { PreparedWrite, WriteOutcome, WritePlan } from '../../port.ts';

/** A write that is waiting or running. */
export interface QueuedWrite {
  readonly write: PreparedWrite;
  /** As in `PreparedWrite`. */
  readonly order: number;
  /** Turn of the event loop in which it arrived; writes of one turn are executed in their order. Write-behind rows have unique negative numbers. */
  readonly turn: number;
  /** A write-behind row: no caller waits for it. */
  readonly behind: boolean;
  plan: WritePlan;
  /** Records that it writes to or takes snapshots of, as far as its plan names them, and the locks of its conditions. */
  records: readonly string[];
  /** Locks of its conditions. */
  locks: readonly string[];
  /** Schema under which the plan was made. */
  plannedUnder: Schema;
  /** Attempts since its plan was first found outdated; `undefined` if it was not. */
  contention: Contention | undefined;
  /** Since when other sessions' locks delay it, by `performance.now()`; 0: they do not. */
  heldSince: number;
  /** It was in a group whose lock request timed out, without it being known whose: it is then executed in a group of its own. */
  isSuspect: boolean;
  isSettled: boolean;
  isCommitted?: boolean;
  resolve(outcome: WriteOutcome): void;
  reject(error: unknown): void;
}

/** Returns whether a write changes the schema. */
export const changesSchema = ({ plan }: QueuedWrite): boolean => plan.changes.length > 0;

/** How long a transaction waits for a lock: briefly, to let others pass, or long, for a probe group, which delays no others. */
export type LockWait = 'short' | 'long';

/** What remains after an execution. */
export interface Unfinished {
  /** Writes to execute again, in their order. */
  readonly retry: readonly QueuedWrite[];
  /** Obstacles that prevented some of them (obstacles.ts). */
  readonly obstacles: readonly string[];
}

/** Executes groups of writes. */
export interface Executor {
  schema(): Schema;
  /** Executes and settles writes that do not change the schema. Never rejects. */
  execute(group: readonly QueuedWrite[], lockWait: LockWait): Promise<Unfinished>;
  /** Executes and settles a write that changes the schema. Never rejects. */
  executeChange(write: QueuedWrite): Promise<Unfinished>;
}

/**
 * Inserts a write into the waiting ones: before later writes of its turn. It may overtake write-behind rows; but a delete must not, since they may
 * point at the deleted record.
 */
export function addInOrder(entry: QueuedWrite, waiting: QueuedWrite[]): void {
  let place = waiting.length;
  for (; place > 0 && !entry.behind; place--) {
    const before = waiting[place - 1] as QueuedWrite;
    if (before.order < entry.order || !(before.turn === entry.turn || before.behind)) break;
  }
  if (place === waiting.length || !deletesRecord(entry.plan)) {
    waiting.splice(place, 0, entry);
    return;
  }
  // Splice once, because there may be thousands of rows.
  const later = waiting.splice(place);
  for (const one of later) if (one.behind) waiting.push(one);
  waiting.push(entry);
  for (const one of later) if (!one.behind) waiting.push(one);
}
