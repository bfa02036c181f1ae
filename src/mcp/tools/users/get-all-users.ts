import { findRows, type Row } from '../../../crm/queries/records.ts';
import { findMembers, findRoles } from '../../../crm/queries/roles.ts';
import { accessErrors, unless } from '../../../crm/refusals.ts';
import { type JsonObject, omitUndefined } from '../../../kernel/json.ts';
import { defineTool, type ToolCall } from '../../definition/tool.ts';

/** Reference: agents.md#limits-for-agents. */
export const MAX_USERS = 100;

/** Reference: tools.md#get-all-users. */
export const getAllUsers = defineTool({
  name: 'Get-all-Users',
  group: 'users',
  description: 'The first 100 users: id, name, username, roles, active.',
  input: {},
  needs: ['mcp:view'],
  effect: 'read',
  about: '_User',
  async run(call) {
    // The default order is the order of creation.
    const rows = await findRows(call, '_User', {
      keys: ['name', 'username', 'active'],
      limit: MAX_USERS + 1,
    });
    const users = rows.slice(0, MAX_USERS);
    const roles = await unless(accessErrors, null, () => rolesOf(call, users));
    return {
      results: users.map((user) => ({ ...shownOf(user), ...(roles && { roles: roles.get(user.objectId) ?? [] }) })),
      ...(!roles && { hidden: ['_Role'] }),
      ...(rows.length > MAX_USERS && { hint: 'There are more users: Get-Data on _User has them.' }),
    };
  },
});

/** A missing `active` counts as true. Reference: system-tables.md#_user. */
function shownOf({ objectId, name, username, active }: Row): JsonObject {
  return omitUndefined({ objectId, name, username, active: active !== false });
}

/** Returns the roles that hold users directly. One query per role, because there are fewer roles than users. */
async function rolesOf(call: ToolCall, users: readonly Row[]): Promise<ReadonlyMap<string, string[]>> {
  const found = new Map<string, string[]>(users.map(({ objectId }) => [objectId, []]));
  const where = { objectId: { $in: [...found.keys()] } };
  for (const role of await findRoles(call)) {
    const members = await findMembers(call, role, { where, keys: ['objectId'], limit: MAX_USERS });
    for (const { objectId } of members) found.get(objectId)?.push(role.name);
  }
  return found;
}
