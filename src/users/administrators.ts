import { type RecordContext, readRows } from '../records/index.ts';
import { fieldOf, tableOf } from '../schema/model.ts';

/** The role whose members administer a system (SPEC "Authentication: Agent-tool layer" 1). */
export const ADMIN = 'Admin';

/** What takes administrators out takes turns under this key (`exclusively`), since each looks who would be left. */
export const ADMIN_KEY = `_Role ${ADMIN}`;

/** Whether a user is the only member of `Admin` who may sign in. */
export async function isLastAdministrator({ store }: RecordContext, userId: string): Promise<boolean> {
  const roles = tableOf(store.schema(), '_Role');
  const [admin] = await readRows<{ readonly objectId: string }>(store, {
    className: '_Role',
    fields: ['objectId'],
    filter: (table) => ({ kind: 'in', field: fieldOf(table, 'name'), values: [ADMIN] }),
    limit: 1,
  });
  if (!admin) return false;
  const members = await readRows<{ readonly objectId: string; readonly active?: boolean }>(store, {
    className: '_User',
    fields: ['objectId', 'active'],
    filter: () => ({
      kind: 'relatedTo',
      relation: fieldOf(roles, 'users'),
      ownerId: admin.objectId,
      owner: { table: roles, filter: { kind: 'always' } },
    }),
  });
  const active = members.filter((member) => member.active !== false);
  return active.length === 1 && active[0]?.objectId === userId;
}
