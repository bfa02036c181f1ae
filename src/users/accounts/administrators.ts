import { ADMIN, authorize } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../kernel/json.ts';
import { guardedFilter } from '../../query/index.ts';
import type { Filter } from '../../query/model/filter.ts';
import { type EarlierWrite, type RuledFields, type RuledWrite, readRows } from '../../records/index.ts';
import { fieldOf, type Schema, type TableSchema, tableOf } from '../../schema/model.ts';
import { holds, notBlocked } from './user-filters.ts';

/** Key of the condition that an administrator remains: used by each write that may remove one, and by work in several steps (`exclusively`). */
export const ADMIN_KEY = `_Role ${ADMIN}`;

/** The users that a write takes out of a role or blocks: by id, or all members. */
type RemovedUsers = readonly string[] | 'all';

interface Removal {
  /** The role; left out: any role. */
  readonly roleId?: string;
  readonly users: RemovedUsers;
}

/** An update or delete of a user or a role. */
type AccountWrite = RuledWrite & EarlierWrite & { readonly action: 'update' | 'remove' };
const rights = { update: 'update', remove: 'delete' } as const;

/**
 * Enforces that a system keeps an administrator: without an active direct member of `Admin` only a key could give the role again. The commit
 * decides, so that of two concurrent writes one is refused; a write that passes reads nothing here. Writes of one commit count together.
 * Reference: users.md#administrators.
 * @returns the condition for the commit; nothing if the write removes no user
 * @throws lastAdministrator (107)
 */
export async function keepAdministrator(write: AccountWrite): Promise<Pick<RuledFields, 'conditions'>> {
  const { context, className, action, objectId, earlier, looksAhead } = write;
  const { store, principal, mayRemoveLastAdministrator } = context;
  const own = removalBy(write);
  if (own.users.length === 0 || mayRemoveLastAdministrator) return {};
  const removals = [...earlier.map(removalBy).filter(({ users }) => users.length > 0), own];
  const left = looksAhead
    ? await readRows(store, {
        className: '_Role',
        fields: ['objectId'],
        filter: (roles) => leftWithoutAny(roles, store.schema(), removals),
        limit: 1,
      })
    : [];
  if (left.length > 0) {
    const written = await readRows(store, {
      className,
      fields: ['objectId'],
      filter: (table) =>
        guardedFilter(authorize(principal, rights[action], table, store.schema()), holds(table, 'objectId', objectId)),
      limit: 1,
    });
    // A record that the caller cannot write counts as missing; an error would reveal who administers.
    return written.length > 0 ? fail('lastAdministrator') : {};
  }
  return {
    conditions(schema) {
      const table = tableOf(schema, '_Role');
      return [{ kind: 'absent', table, filter: leftWithoutAny(table, schema, removals), key: ADMIN_KEY }];
    },
  };
}

function removalBy({ className, action, objectId, fields }: EarlierWrite): Removal {
  if (className === '_User') return { users: action === 'remove' || fields.active === false ? [objectId] : [] };
  if (className !== '_Role') return { users: [] };
  return { roleId: objectId, users: action === 'remove' ? 'all' : removedMembers(fields.users) };
}

/** Matches the role `Admin` if some of the removed users are active members and no other member is active. */
function leftWithoutAny(roles: TableSchema, schema: Schema, removals: readonly Removal[]): Filter {
  const [only, ...others] = [...new Set(removals.map(({ roleId }) => roleId))].map((id) => {
    const ofRole = removals.filter(({ roleId }) => roleId === undefined || roleId === id).map(({ users }) => users);
    return withoutAny(roles, schema, ofRole.includes('all') ? 'all' : (ofRole.flat() as string[]), id);
  });
  return others.length === 0 ? (only as Filter) : { kind: 'or', items: [only as Filter, ...others] };
}

/** @param roleId restricts the match to this role */
function withoutAny(roles: TableSchema, schema: Schema, removed: RemovedUsers, roleId: string | undefined): Filter {
  const users = tableOf(schema, '_User');
  const ref = { field: fieldOf(roles, 'users'), path: [] };
  const hasActive = (...who: Filter[]): Filter => ({
    kind: 'inQuery',
    ref,
    target: { table: users, filter: { kind: 'and', items: [...who, notBlocked(users)] } },
  });
  const items: Filter[] = [holds(roles, 'name', ADMIN), ...(roleId === undefined ? [] : [holds(roles, 'objectId', roleId)])];
  if (removed === 'all') return { kind: 'and', items: [...items, hasActive()] };
  const isRemoved: Filter = { kind: 'in', field: fieldOf(users, 'objectId'), values: removed };
  const hasOther = hasActive({ kind: 'not', item: isRemoved });
  return { kind: 'and', items: [...items, hasActive(isRemoved), { kind: 'not', item: hasOther }] };
}

/** Returns the users that a change of a role's members takes out. Malformed values are refused by the write itself. */
function removedMembers(users: JsonValue | undefined): RemovedUsers {
  if (users === null) return 'all';
  if (!isJsonObject(users ?? null)) return [];
  const { __op: op, objects, ops } = users as JsonObject;
  if (op === 'Delete') return 'all';
  if (op === 'Batch' && Array.isArray(ops)) return ops.flatMap((one) => [...removedByStep(one)]);
  return op === 'RemoveRelation' && Array.isArray(objects) ? objects.flatMap(idIn) : [];
}

/** A step of a Batch, which cannot contain another Batch. */
function removedByStep(step: JsonValue): readonly string[] {
  const removed = isJsonObject(step) && step.__op === 'RemoveRelation' ? removedMembers(step) : [];
  return removed === 'all' ? [] : removed;
}

const idIn = (member: JsonValue): string[] =>
  isJsonObject(member) && typeof member.objectId === 'string' ? [member.objectId] : [];
