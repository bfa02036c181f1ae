import type { JsonObject } from '../../../kernel/json.ts';
import { type RecordContext, readRows } from '../../../records/index.ts';
import type { ToolCall } from '../../definition/tool.ts';
import { badArguments } from '../answers/refusals.ts';
import { findRows, type Row } from '../reading/records.ts';
import { pointer } from '../values/wire.ts';

/** A role as an agent speaks of it. */
export interface Role {
  readonly objectId: string;
  readonly name: string;
}

/** So many roles of a system are looked at. */
const MOST_ROLES = 1_000;

/** The roles of the system, by name. @param where left out: all. @throws permissionDenied (119) */
export async function findRoles(call: ToolCall, where?: JsonObject): Promise<Role[]> {
  const rows = await findRows(call, '_Role', { where, keys: ['name'], order: 'name', limit: MOST_ROLES });
  return rows.map(({ objectId, name }) => ({ objectId, name: typeof name === 'string' ? name : objectId }));
}

/** The names of all roles, whoever asks, in the order of creation: permissions name roles that who gives them need not see. */
export async function allRoleNames({ store }: RecordContext): Promise<string[]> {
  const query = { className: '_Role', fields: ['name'], filter: () => ({ kind: 'always' }) as const };
  const rows = await readRows<{ readonly name?: string }>(store, query);
  return rows.map(({ name }) => name).filter((name) => name !== undefined);
}

/** The roles that hold a user themselves; not those above them. */
export const rolesHolding = (call: ToolCall, userId: string): Promise<Role[]> =>
  findRoles(call, { users: pointer('_User', userId) });

/** Members of a role. @throws permissionDenied (119) */
export function findMembers(
  call: ToolCall,
  { objectId }: Role,
  { where = {}, keys, limit }: { readonly where?: JsonObject; readonly keys: readonly string[]; readonly limit: number },
): Promise<Row[]> {
  const isMember = { $relatedTo: { object: pointer('_Role', objectId), key: 'users' } };
  return findRows(call, '_User', { where: { ...isMember, ...where }, keys, limit });
}

/** As permissions write a role's name (SPEC "Permissions"); no role has a name with a colon. */
const bareName = (name: string): string => name.replace(/^role:/, '');

/** The roles of some names, also as permissions write them. @throws invalidArguments (107) for a name that none has, with those that there are */
export function rolesNamed(roles: readonly Role[], names: readonly string[]): Role[] {
  const byName = new Map(roles.map((role) => [role.name, role]));
  return [...new Set(names.map(bareName))].map(
    (name) =>
      byName.get(name) ??
      badArguments(`there is no role ${name.slice(0, 100)}`, {
        expected: `One of ${[...byName.keys()].join(', ').slice(0, 2_000)}`,
        next: 'Get-Roles',
      }),
  );
}
