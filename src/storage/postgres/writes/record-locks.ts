import type { TableSchema } from '../../../schema/model.ts';
import type { Mutation } from '../../port.ts';
import type { Dialect } from '../../sql/dialect.ts';
import type { Statement } from '../../sql/sql-writer.ts';
import { compileLocks } from './compile-mutation.ts';
import { snapshotOf } from './folded-steps.ts';
import type { QueuedWrite } from './queued-write.ts';

/** Locks the records that a group changes or takes snapshots of, in their order, so that two processes which change the same ones do not deadlock. */
export function recordLocksOf(group: readonly QueuedWrite[], dialect: Dialect): Statement[] {
  const records = new Map<string, { table: TableSchema; ids: Set<string> }>();
  for (const { plan } of group)
    for (const mutation of plan.mutations) {
      const locked = lockedBy(mutation);
      if (!locked) continue;
      const { table, objectId } = locked;
      const known = records.get(table.className);
      if (known) known.ids.add(objectId);
      else records.set(table.className, { table, ids: new Set([objectId]) });
    }
  return [...records].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, { table, ids }]) => compileLocks(table, [...ids], dialect));
}

function lockedBy(mutation: Mutation): { readonly table: TableSchema; readonly objectId: string } | null {
  if (mutation.kind === 'update' || mutation.kind === 'delete') return mutation;
  const snapshot = snapshotOf(mutation);
  return snapshot ? { table: snapshot.from, objectId: snapshot.objectId } : null;
}
