import { ADMIN } from '../access/index.ts';
import type { Filter } from '../query/filter.ts';
import { type RecordContext, readRows } from '../records/index.ts';
import { fieldOf, type Schema, type TableSchema, tableOf } from '../schema/model.ts';
import type { Condition } from '../storage/port.ts';
import { holds, notBlocked } from './filters.ts';

/** What takes administrators out takes turns under this key (`exclusively`), since each looks who would be left. */
export const ADMIN_KEY = `_Role ${ADMIN}`;

/** Whether a user is the only member of `Admin` who may sign in. */
export async function isLastAdministrator({ store }: RecordContext, userId: string): Promise<boolean> {
  const filter = (roles: TableSchema) => heldUpBy(roles, store.schema(), userId);
  const found = await readRows(store, { className: '_Role', fields: ['objectId'], filter, limit: 1 });
  return found.length > 0;
}

/**
 * That a user is not, looked at in the commit of what takes him out: on the embedded engine a command and the service do not know of each
 * other's turns (docs/adr/0018-conditions.md).
 */
export function notLastAdministrator(schema: Schema, userId: string): Condition {
  const table = tableOf(schema, '_Role');
  return { kind: 'absent', table, filter: heldUpBy(table, schema, userId), key: ADMIN_KEY };
}

/** The role `Admin` where a user is its only member who may sign in. */
function heldUpBy(roles: TableSchema, schema: Schema, userId: string): Filter {
  const users = tableOf(schema, '_User');
  const ref = { field: fieldOf(roles, 'users'), path: [] };
  const isHe = holds(users, 'objectId', userId);
  const hasActive = (who: Filter): Filter => ({
    kind: 'inQuery',
    ref,
    target: { table: users, filter: { kind: 'and', items: [who, notBlocked(users)] } },
  });
  const hasOther: Filter = { kind: 'not', item: hasActive({ kind: 'not', item: isHe }) };
  return { kind: 'and', items: [holds(roles, 'name', ADMIN), hasActive(isHe), hasOther] };
}
