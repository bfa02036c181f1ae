import type { JsonObject } from '../../kernel/json.ts';
import type { ToolCall } from '../tools/tool.ts';
import { badArguments, findRows, pointer, type Row } from './records.ts';

/** A role as an agent speaks of it. */
export interface Role {
  readonly objectId: string;
  readonly name: string;
}

/** So many roles of a system are looked at. */
const MOST_ROLES = 1_000;

/** The role whose members administer a system (SPEC "Authentication: Agent-tool layer" 1). */
export const ADMIN = 'Admin';

/** The roles of the system, by name. @param where left out: all. @throws permissionDenied (119) */
export async function findRoles(call: ToolCall, where?: JsonObject): Promise<Role[]> {
  const rows = await findRows(call, '_Role', { where, keys: ['name'], order: 'name', limit: MOST_ROLES });
  return rows.map(({ objectId, name }) => ({ objectId, name: typeof name === 'string' ? name : objectId }));
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

/** The roles of some names. @throws invalidArguments (107) for a name that none has, with those that there are */
export function rolesNamed(roles: readonly Role[], names: readonly string[]): Role[] {
  const byName = new Map(roles.map((role) => [role.name, role]));
  const unknown = names.find((name) => !byName.has(name));
  if (unknown !== undefined)
    badArguments(`there is no role ${unknown.slice(0, 100)}`, {
      expected: `One of ${[...byName.keys()].join(', ').slice(0, 2_000)}`,
      next: 'Get-Roles',
    });
  return [...new Set(names)].map((name) => byName.get(name) as Role);
}
