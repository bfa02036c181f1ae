import type { Contention } from '../../../kernel/contention.ts';
import type { Schema } from '../../../schema/model.ts';
import { deletesRecord } from '../../column-values.ts';
import type { PreparedWrite, WriteOutcome, WritePlan } from '../../port.ts';

/** A write that waits for its turn, or is under way. */
export interface QueuedWrite {
  readonly write: PreparedWrite;
  /** As of `PreparedWrite`. */
  readonly order: number;
  /** The turn of the event loop that it came in: its writes are carried out in their order. One of its own, below 0, where it is behind. */
  readonly turn: number;
  /** Nobody waits for it. */
  readonly behind: boolean;
  plan: WritePlan;
  /** The records that it writes to or takes snapshots of, as far as its plan names them, and what it locks for its conditions. */
  records: readonly string[];
  /** What it locks for its conditions. */
  locks: readonly string[];
  /** The schema that the plan was made under. */
  plannedUnder: Schema;
  /** Its attempts since it was first planned under a schema that was another by then; `undefined`: it was not. */
  contention: Contention | undefined;
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

/** How long a transaction waits for a lock: a moment, after which others go on before it, or longer, in a place where it is in nobody's way. */
export type Patience = 'short' | 'long';

/** What is left of writes that were to be carried out. */
export interface Left {
  /** To be planned anew, in their order. */
  readonly again: readonly QueuedWrite[];
  /** What others hold of what they need (obstacles.ts). */
  readonly obstacles: readonly string[];
}

/** Executes groups of writes. */
export interface Executor {
  schema(): Schema;
  /** Carries out and settles writes that change no schema. Never rejects. */
  execute(group: readonly QueuedWrite[], patience: Patience): Promise<Left>;
  /** Carries out and settles a write that changes the schema. Never rejects. */
  executeChange(write: QueuedWrite): Promise<Left>;
}

/**
 * Adds a write to those that wait: before those of its turn that came after it. Rows that are written behind are passed, but by a delete, since
 * they may point at what it takes.
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
  // There may be thousands of rows.
  const later = waiting.splice(place);
  for (const one of later) if (one.behind) waiting.push(one);
  waiting.push(entry);
  for (const one of later) if (!one.behind) waiting.push(one);
}
