import type { Filter } from '../../query/model/filter.ts';
import { type OwnQuery, readRows } from '../../records/index.ts';
import type { TableSchema } from '../../schema/model.ts';
import type { Store } from '../../storage/port.ts';

interface RoleRow {
  readonly objectId: string;
  readonly name?: string;
}

/**
 * Returns the roles of a user: those that hold the user, and those that list these in `roles`, over any number of levels. Cycles do no harm.
 * Reference: users.md#roles.
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

/** Whether two results of `rolesOf` are equal. */
export const sameRoles = (a: readonly string[], b: readonly string[]): boolean => a.join('\n') === b.join('\n');

/** Number of roles read on the event loop at most; a user with more needs a reader thread. */
const SHORT_READ_ROLES = 100;

async function rolesWith(store: Store, relation: 'users' | 'roles', memberIds: readonly string[]): Promise<RoleRow[]> {
  const query: OwnQuery = {
    className: '_Role',
    fields: ['objectId', 'name'],
    filter: (table) => hasMember(table, relation, memberIds),
  };
  const rows = await readRows<RoleRow>(store, { ...query, limit: SHORT_READ_ROLES });
  return rows.length < SHORT_READ_ROLES ? rows : readRows(store, query);
}

function hasMember(table: TableSchema, name: string, memberIds: readonly string[]): Filter | null {
  const relation = table.fields.get(name);
  return relation?.type === 'Relation' ? { kind: 'hasMember', relation, memberIds } : null;
}
