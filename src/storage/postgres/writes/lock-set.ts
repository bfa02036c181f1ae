import { uniqueFieldsOf } from '../../../schema/system-tables.ts';
import { hasEdits, isEdited } from '../../column-values.ts';
import type { Mutation, WritePlan } from '../../port.ts';
import { idOf } from './bulk-insert.ts';
import { recordKey } from './compile-group.ts';
import { conditionLocks } from './conditions.ts';
import { snapshotOf } from './folded-steps.ts';
import type { QueuedWrite } from './queued-write.ts';

const FILTERED = ['require', 'updateAll', 'deleteAll', 'unmark'] as const;
type Filtered = Extract<Mutation, { kind: (typeof FILTERED)[number] }>;

/** Returns whether a step finds its records by a filter. */
export const usesFilter = (mutation: Mutation): mutation is Filtered => FILTERED.some((kind) => kind === mutation.kind);

/** Returns the records that a write changes, as far as its plan names them, and tables in which it claims unique values. */
function changedBy(mutations: readonly Mutation[]): string[] {
  return mutations.flatMap((mutation) => {
    const { kind, table } = mutation;
    if (usesFilter(mutation)) return [];
    if (kind === 'insert') {
      const record = recordKey(table.className, idOf(mutation));
      // Of two writes that claim the same value, the first must get it, so they must not run concurrently.
      return uniqueFieldsOf(table.className).size > 0 ? [record, recordKey(table.className, '')] : [record];
    }
    return [recordKey(table.className, kind === 'update' || kind === 'delete' ? mutation.objectId : mutation.ownerId)];
  });
}

/** Returns what no other write may use while this one is executed. */
export function lockSetOf(plan: WritePlan): Pick<QueuedWrite, 'records' | 'locks'> {
  const locks = conditionLocks(plan);
  const records = lockedBy(plan.mutations);
  return { records: locks.length > 0 ? [...records, ...locks.map((lock) => recordKey('', lock))] : records, locks };
}

/** Returns the changed records, and those of which snapshots are taken: no other write may change them meanwhile. */
function lockedBy(mutations: readonly Mutation[]): string[] {
  const ofSnapshots = mutations.flatMap((mutation) => {
    const snapshot = snapshotOf(mutation);
    return snapshot ? [recordKey(snapshot.from.className, snapshot.objectId)] : [];
  });
  const changed = changedBy(mutations);
  return ofSnapshots.length > 0 ? [...new Set([...changed, ...ofSnapshots])] : changed;
}

/** Returns the records that a write changes by steps other than edits. */
export function recordsWithoutEdits({ plan, records }: Pick<QueuedWrite, 'plan' | 'records'>): readonly string[] {
  return hasEdits(plan) ? changedBy(plan.mutations.filter((mutation) => !isEdited(mutation))) : records;
}
