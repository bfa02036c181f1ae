import type { JsonObject } from '../../kernel/json.ts';
import { type RecordContext, readRows } from '../../records/index.ts';
import { clpActions, type TableSchema } from '../../schema/model.ts';
import type { CrmContext } from '../context.ts';
import { badArguments } from '../refusals.ts';
import { pointer } from '../wire/values.ts';
import { findRows, type Row } from './records.ts';

/** A role as shown to agents. */
export interface Role {
  readonly objectId: string;
  readonly name: string;
}

/** Maximum number of roles read. */
const MAX_ROLES = 1_000;

/** Returns the roles of the system by name. @param where all if absent @throws permissionDenied (119) */
export async function findRoles(context: CrmContext, where?: JsonObject): Promise<Role[]> {
  const rows = await findRows(context, '_Role', { where, keys: ['name'], order: 'name', limit: MAX_ROLES });
  return rows.map(({ objectId, name }) => ({ objectId, name: typeof name === 'string' ? name : objectId }));
}

/** Returns the names of all roles, ignoring the caller's rights, in order of creation: permissions may name roles that their author cannot see. */
export async function allRoleNames({ store }: RecordContext): Promise<string[]> {
  const query = { className: '_Role', fields: ['name'], filter: () => ({ kind: 'always' }) as const };
  const rows = await readRows<{ readonly name?: string }>(store, query);
  return rows.map(({ name }) => name).filter((name) => name !== undefined);
}

/** Returns the roles that contain a user directly, without inherited ones. */
export const rolesHolding = (context: CrmContext, userId: string): Promise<Role[]> =>
  findRoles(context, { users: pointer('_User', userId) });

/** Returns members of a role. @throws permissionDenied (119) */
export function findMembers(
  context: CrmContext,
  { objectId }: Role,
  { where = {}, keys, limit }: { readonly where?: JsonObject; readonly keys: readonly string[]; readonly limit: number },
): Promise<Row[]> {
  const isMember = { $relatedTo: { object: pointer('_Role', objectId), key: 'users' } };
  return findRows(context, '_User', { where: { ...isMember, ...where }, keys, limit });
}

/** Strips the prefix of permissions (permissions.md#table-permissions); no role name contains a colon. */
const bareName = (name: string): string => name.replace(/^role:/, '');

/** Returns roles by name, with or without the prefix. @throws invalidArguments (107) for an unknown name, listing the existing ones */
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

/** Entities of permissions that stand for all callers, and for all signed-in callers. */
export const publicEntities: readonly string[] = ['*', 'requiresAuthentication'];

/**
 * Returns what table permissions grant: names of tables by actions, such as `find get create`.
 * @param entities `role:<Name>`, `*`, `requiresAuthentication`: what any of them has
 */
export function rightsOf(tables: readonly TableSchema[], entities: readonly string[]): JsonObject {
  const rights = new Map<string, string[]>();
  for (const { className, permissions } of tables) {
    const given = clpActions.filter((action) => {
      const grants = permissions[action];
      return grants !== undefined && entities.some((entity) => Object.hasOwn(grants, entity) && grants[entity] === true);
    });
    if (given.length > 0) rights.set(given.join(' '), [...(rights.get(given.join(' ')) ?? []), className]);
  }
  return Object.fromEntries(rights);
}
