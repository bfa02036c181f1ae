import type { Passed } from './write-order.ts';
import { changes, type QueuedWrite } from './queued-write.ts';

/** Writes under way together. */
export interface Running {
  /** None of a group that tries what others hold: see `Passed.hold`. */
  readonly turns: ReadonlySet<number>;
  /** Records that they write to. */
  readonly records: ReadonlySet<string>;
  readonly isChange: boolean;
  readonly isBehind: boolean;
  /** Of a group that tries what others hold: what it needs of that, and what later writes of its turns must not come before it in. */
  readonly trial: { readonly obstacles: readonly string[]; readonly held: Passed } | undefined;
}

/** Whether a write cannot be carried out beside others. */
export function excludes(running: Running, entry: QueuedWrite): boolean {
  if (running.turns.has(entry.turn) || (running.isChange && changes(entry))) return true;
  return entry.records.some((record) => running.records.has(record));
}
