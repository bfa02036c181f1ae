import type { Filter } from '../query/filter.ts';
import { readRows } from '../records/index.ts';
import type { TableSchema } from '../schema/model.ts';
import type { Store } from '../storage/port.ts';

interface RoleRow {
  readonly objectId: string;
  readonly name?: string;
}

/**
 * The roles of a user: those that hold him, and those above them, which a role's `roles` tell (CONTRACT "Records"). Cycles do no harm.
 * @returns names, sorted
 */
export async function rolesOf(store: Store, userId: string): Promise<string[]> {
  const found = new Map<string, string | undefined>();
  let reached = await rolesWith(store, 'users', [userId]);
  while (reached.length > 0) {
    for (const { objectId, name } of reached) found.set(objectId, name);
    const above = await rolesWith(
      store,
      'roles',
      reached.map(({ objectId }) => objectId),
    );
    reached = above.filter(({ objectId }) => !found.has(objectId));
  }
  return [...new Set(found.values().filter((name) => name !== undefined))].sort();
}

function rolesWith(store: Store, relation: 'users' | 'roles', memberIds: readonly string[]): Promise<RoleRow[]> {
  return readRows(store, {
    className: '_Role',
    fields: ['objectId', 'name'],
    filter: (table) => hasMember(table, relation, memberIds),
  });
}

function hasMember(table: TableSchema, name: string, memberIds: readonly string[]): Filter | null {
  const relation = table.fields.get(name);
  return relation?.type === 'Relation' ? { kind: 'hasMember', relation, memberIds } : null;
}
