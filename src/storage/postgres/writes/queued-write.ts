import type { Schema } from '../../../schema/model.ts';
import type { PreparedWrite, WriteOutcome, WritePlan } from '../../port.ts';

/** A write that waits for its turn, or is under way. */
export interface QueuedWrite {
  readonly write: PreparedWrite;
  /** The turn of the event loop that it came in: its writes are carried out in their order. */
  readonly turn: number;
  /** Nobody waits for it. */
  readonly behind: boolean;
  plan: WritePlan;
  /** The records that it writes to or takes pictures of, as far as its plan names them, and what it locks for its conditions. */
  records: readonly string[];
  /** What it locks for its conditions. */
  locks: readonly string[];
  /** The schema that the plan was made under. */
  plannedUnder: Schema;
  /** Since when it is planned under schemas that are others by then, by `performance.now()`; 0: it was not. */
  staleSince: number;
  /** Since when it is held up by others' locks, by `performance.now()`; 0: it is not. */
  heldSince: number;
  /** One of several that a lock was not had for, and nobody knows which: it is carried out by itself. */
  isSuspect: boolean;
  isSettled: boolean;
  resolve(outcome: WriteOutcome): void;
  reject(error: unknown): void;
}

/** Whether a write changes the schema. */
export const changes = ({ plan }: QueuedWrite): boolean => plan.changes.length > 0;
