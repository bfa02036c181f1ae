import { uniqueFieldsOf } from '../../../schema/system-tables.ts';
import type { Mutation, WritePlan } from '../../port.ts';
import { idOf } from './bulk-insert.ts';
import { recordKey, snapshotOf } from './compile-group.ts';
import { conditionLocks } from './conditions.ts';
import { hasEdits, isEdited } from './json-updates.ts';
import type { QueuedWrite } from './queued-write.ts';

const FILTERED = ['require', 'updateAll', 'deleteAll', 'unmark'] as const;
type Filtered = Extract<Mutation, { kind: (typeof FILTERED)[number] }>;

/** Whether a step finds its records by a filter. */
export const namesNoRecord = (mutation: Mutation): mutation is Filtered => FILTERED.some((kind) => kind === mutation.kind);

/** The records that a write changes, as far as its plan names them, and the tables in which it claims a value for itself alone. */
function changedBy(mutations: readonly Mutation[]): string[] {
  return mutations.flatMap((mutation) => {
    const { kind, table } = mutation;
    if (namesNoRecord(mutation)) return [];
    if (kind === 'insert') {
      const record = recordKey(table.className, idOf(mutation));
      // Of two that claim one name the first is to get it, so they must not be under way on two connections.
      return uniqueFieldsOf(table.className).size > 0 ? [record, recordKey(table.className, '')] : [record];
    }
    return [recordKey(table.className, kind === 'update' || kind === 'delete' ? mutation.objectId : mutation.ownerId)];
  });
}

/** What nobody else may have while a write is carried out. */
export function lockSetOf(plan: WritePlan): Pick<QueuedWrite, 'records' | 'locks'> {
  const locks = conditionLocks(plan);
  const records = lockedBy(plan.mutations);
  return { records: locks.length > 0 ? [...records, ...locks.map((lock) => recordKey('', lock))] : records, locks };
}

/** The same, and the records that it takes snapshots of: nobody else may change them meanwhile. */
function lockedBy(mutations: readonly Mutation[]): string[] {
  const ofSnapshots = mutations.flatMap((mutation) => {
    const snapshot = snapshotOf(mutation);
    return snapshot ? [recordKey(snapshot.from.className, snapshot.objectId)] : [];
  });
  const changed = changedBy(mutations);
  return ofSnapshots.length > 0 ? [...new Set([...changed, ...ofSnapshots])] : changed;
}

/** The records that a write changes by other steps than edits. */
export function writtenAtOnce({ plan, records }: Pick<QueuedWrite, 'plan' | 'records'>): readonly string[] {
  return hasEdits(plan) ? changedBy(plan.mutations.filter((mutation) => !isEdited(mutation))) : records;
}
