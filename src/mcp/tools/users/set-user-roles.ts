import type { JsonObject } from '../../../kernel/json.ts';
import { type RecordWrite, writeTogether } from '../../../records/index.ts';
import { badArguments, getRow, pointer } from '../../kit/records.ts';
import { ADMIN, findMembers, findRoles, type Role, rolesHolding, rolesNamed } from '../../kit/roles.ts';
import { names, objectId } from '../parameters.ts';
import { defineTool, type ToolCall } from '../tool.ts';

/** SPEC "Other system tables": `_Role`. What the user has by roles within roles stays as it is. */
export const setUserRoles = defineTool({
  name: 'Set-User-Roles',
  group: 'users',
  description: 'Replace the roles of a user.',
  input: { userId: objectId(), roles: names(100) },
  needs: ['mcp:edit-page-and-schema'],
  isAdvanced: true,
  effect: 'change',
  isIdempotent: true,
  about: '_Role',
  async run(call, { userId, roles: wanted }) {
    await getRow(call, '_User', userId, { keys: ['objectId'] });
    const roles = rolesNamed(await findRoles(call), wanted);
    const before = await rolesHolding(call, userId);
    const added = without(roles, before);
    const removed = without(before, roles);
    const admin = removed.find(({ name }) => name === ADMIN);
    if (admin) await requireAnother(call, admin, userId);
    const writes = [
      ...added.map((role) => change(role, 'AddRelation', userId)),
      ...removed.map((role) => change(role, 'RemoveRelation', userId)),
    ];
    if (writes.length > 0) await writeTogether(call.context, writes);
    return { objectId: userId, roles: namesOf(roles), added: namesOf(added), removed: namesOf(removed) };
  },
});

const namesOf = (roles: readonly Role[]): string[] => roles.map(({ name }) => name);

const without = (roles: readonly Role[], others: readonly Role[]): Role[] =>
  roles.filter(({ objectId: id }) => !others.some((other) => other.objectId === id));

function change({ objectId: id }: Role, op: 'AddRelation' | 'RemoveRelation', userId: string): RecordWrite {
  const users: JsonObject = { __op: op, objects: [pointer('_User', userId)] };
  return { kind: 'update', className: '_Role', objectId: id, body: { users } };
}

/** Without an administrator nobody could give the role again, but with a key. @throws invalidArguments (107) */
async function requireAnother(call: ToolCall, admin: Role, userId: string): Promise<void> {
  const where = { objectId: { $ne: userId }, active: { $ne: false } };
  const others = await findMembers(call, admin, { where, keys: ['objectId'], limit: 1 });
  if (others.length === 0)
    badArguments(`the user is the last active member of ${ADMIN}`, {
      expected: `Give another user the role ${ADMIN} first`,
      next: 'Get-Roles',
    });
}
