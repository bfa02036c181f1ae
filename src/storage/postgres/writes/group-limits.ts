import { hasEdits } from '../../column-values.ts';
import type { QueuedWrite } from './queued-write.ts';

/** Maximum number of writes in one transaction: as many as the largest batch of a request. */
export const MAX_GROUP_SIZE = 1_000;
/** Maximum number of concurrent transactions of one system; the connections are shared by all systems. */
export const MAX_CONCURRENT_GROUPS = 2;

/** Maximum characters of values in a group, beyond one write. A statement of many rows is in memory as a whole. */
export const MAX_GROUP_TEXT = 16 * 1024 * 1024;
/** Maximum condition locks in a group, beyond one write: the server has room for 64 locks per session on average. */
const MAX_GROUP_LOCKS = 40;

/**
 * Returns whether a write may join a group. Edits are computed before anything of the group is executed, so a preceding write to the same record
 * must be an edit too.
 */
export function mayJoin({ plan, records }: QueuedWrite, written: ReadonlySet<string>): boolean {
  return !hasEdits(plan) || !records.some((record) => written.has(record));
}

/**
 * Returns whether a write's locks may join a group. All conditions are checked before anything of the group is executed, so a condition must not
 * depend on another write of the group.
 */
export function mayLock({ locks }: QueuedWrite, locked: ReadonlySet<string>): boolean {
  return !locks.some((lock) => locked.has(lock)) && (locks.length === 0 || locked.size + locks.length <= MAX_GROUP_LOCKS);
}
