import type { WritePlan } from '../../port.ts';
import { hasEdits } from './json-updates.ts';
import type { QueuedWrite } from './queued-write.ts';

/** Characters of values in a group, beyond one write; a statement of many rows is in memory as a whole. */
export const MAX_GROUP_TEXT = 16 * 1024 * 1024;
/** Locks of conditions in a group, beyond one write: the server has room for 64 of a session, on the average. */
const MAX_GROUP_LOCKS = 40;

/** Edits are computed before anything of the group is carried out, so they see no other writes to their record than edits. */
export function mayJoin({ plan, records }: QueuedWrite, written: ReadonlySet<string>): boolean {
  return !hasEdits(plan) || !records.some((record) => written.has(record));
}

/** All conditions of a group are looked at before anything of it is carried out, so that none sees what another write of it makes. */
export function mayLock({ locks }: QueuedWrite, locked: ReadonlySet<string>): boolean {
  return !locks.some((lock) => locked.has(lock)) && (locks.length === 0 || locked.size + locks.length <= MAX_GROUP_LOCKS);
}

/** Characters of the values that a write brings. */
export function textOf({ mutations }: WritePlan): number {
  let text = 0;
  const count = (value: unknown) => {
    if (typeof value === 'string') text += value.length;
  };
  for (const mutation of mutations)
    if (mutation.kind === 'insert') for (const [, value] of mutation.values) count(value);
    else if (mutation.kind === 'update') for (const one of mutation.assignments) if (one.kind === 'set') count(one.value);
  return text;
}
