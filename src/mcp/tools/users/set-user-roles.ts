import { ADMIN } from '../../../access/index.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { type RecordWrite, writeTogether } from '../../../records/index.ts';
import { names, objectId } from '../../definition/parameters.ts';
import { defineTool, type ToolCall } from '../../definition/tool.ts';
import { inAdminTurn, requireAnotherAdmin } from '../../kit/people/last-admin.ts';
import { findRoles, type Role, rolesHolding, rolesNamed } from '../../kit/people/roles.ts';
import { getRow } from '../../kit/reading/records.ts';
import { pointer } from '../../kit/values/wire.ts';

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
  listedBy: 'Get-all-Users',
  async run(call, { userId, roles: wanted }) {
    await getRow(call, '_User', userId, { keys: ['objectId'] });
    const roles = rolesNamed(await findRoles(call), wanted);
    return inAdminTurn(call, (held) => replaceRoles(held, userId, roles));
  },
});

async function replaceRoles(call: ToolCall, userId: string, roles: readonly Role[]): Promise<JsonObject> {
  const before = await rolesHolding(call, userId);
  const added = without(roles, before);
  const removed = without(before, roles);
  if (removed.some(({ name }) => name === ADMIN)) await requireAnotherAdmin(call, [userId]);
  const writes = [
    ...added.map((role) => change(role, 'AddRelation', userId)),
    ...removed.map((role) => change(role, 'RemoveRelation', userId)),
  ];
  if (writes.length > 0) await writeTogether(call.context, writes);
  return { objectId: userId, roles: namesOf(roles), added: namesOf(added), removed: namesOf(removed) };
}

const namesOf = (roles: readonly Role[]): string[] => roles.map(({ name }) => name);

const without = (roles: readonly Role[], others: readonly Role[]): Role[] =>
  roles.filter(({ objectId: id }) => !others.some((other) => other.objectId === id));

function change({ objectId: id }: Role, op: 'AddRelation' | 'RemoveRelation', userId: string): RecordWrite {
  const users: JsonObject = { __op: op, objects: [pointer('_User', userId)] };
  return { kind: 'update', className: '_Role', objectId: id, body: { users } };
}
