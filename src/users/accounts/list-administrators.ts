import { ADMIN } from '../../access/index.ts';
import { type RecordContext, readRows } from '../../records/index.ts';
import { fieldOf, tableOf } from '../../schema/model.ts';
import { holds, notBlocked } from './user-filters.ts';

/** Returns the ids of a system's administrators: the active direct members of the role `Admin`. @throws unavailable, timeout */
export async function administratorsOf({ store }: Pick<RecordContext, 'store'>): Promise<readonly string[]> {
  const schema = store.schema();
  const roles = tableOf(schema, '_Role');
  const [role] = await readRows<{ objectId: string }>(store, {
    className: '_Role',
    fields: ['objectId'],
    filter: (table) => holds(table, 'name', ADMIN),
    limit: 1,
  });
  if (!role) return [];
  const owner = { table: roles, filter: { kind: 'always' } } as const;
  const members = { kind: 'relatedTo', relation: fieldOf(roles, 'users'), ownerId: role.objectId, owner } as const;
  const rows = await readRows<{ objectId: string }>(store, {
    className: '_User',
    fields: ['objectId'],
    filter: (table) => ({ kind: 'and', items: [members, notBlocked(table)] }),
  });
  return rows.map(({ objectId }) => objectId);
}
