import type { JsonObject } from '../../kernel/json.ts';
import { type RecordWrite, writeAtomically } from '../../records/index.ts';
import { ADMIN_KEY } from '../../users/index.ts';
import { runExclusive } from '../commands/exclusive.ts';
import type { CrmContext } from '../context.ts';
import { getRow } from '../queries/records.ts';
import { findRoles, type Role, rolesHolding, rolesNamed } from '../queries/roles.ts';
import { pointer } from '../wire/values.ts';

/**
 * Replaces the roles that a user holds directly. Roles that the user has through other roles are not affected.
 * @param names of roles, with or without the prefix `role:` of permissions
 * @throws objectNotFound (101), invalidArguments (107) for a role that does not exist; lastAdministrator (107), permissionDenied (119)
 */
export async function setUserRoles(context: CrmContext, userId: string, names: readonly string[]): Promise<JsonObject> {
  await getRow(context, '_User', userId, { keys: ['objectId'] });
  const roles = rolesNamed(await findRoles(context), names);
  return runExclusive(context, ADMIN_KEY, (held) => replaceRoles(held, userId, roles));
}

async function replaceRoles(context: CrmContext, userId: string, roles: readonly Role[]): Promise<JsonObject> {
  const before = await rolesHolding(context, userId);
  const added = without(roles, before);
  const removed = without(before, roles);
  const writes = [
    ...added.map((role) => change(role, 'AddRelation', userId)),
    ...removed.map((role) => change(role, 'RemoveRelation', userId)),
  ];
  if (writes.length > 0) await writeAtomically(context, writes);
  return { objectId: userId, roles: namesOf(roles), added: namesOf(added), removed: namesOf(removed) };
}

const namesOf = (roles: readonly Role[]): string[] => roles.map(({ name }) => name);

const without = (roles: readonly Role[], others: readonly Role[]): Role[] =>
  roles.filter(({ objectId: id }) => !others.some((other) => other.objectId === id));

function change({ objectId: id }: Role, op: 'AddRelation' | 'RemoveRelation', userId: string): RecordWrite {
  const users: JsonObject = { __op: op, objects: [pointer('_User', userId)] };
  return { kind: 'update', className: '_Role', objectId: id, body: { users } };
}
