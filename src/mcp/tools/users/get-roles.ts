import { knownTables } from '../../../crm/queries/records.ts';
import { findMembers, findRoles, publicEntities, type Role, rightsOf, rolesNamed } from '../../../crm/queries/roles.ts';
import { accessErrors, unless } from '../../../crm/refusals.ts';
import { titleOf } from '../../../crm/wire/titles.ts';
import { pointer } from '../../../crm/wire/values.ts';
import { type JsonObject, type JsonValue, jsonBytes } from '../../../kernel/json.ts';
import { text } from '../../definition/parameters.ts';
import { defineTool, type ToolCall } from '../../definition/tool.ts';
import { MAX_RESULT_BYTES } from '../../results/page.ts';

/** Maximum number of members listed for each role, and for a single requested role. */
const MAX_MEMBERS_EACH = 50;
const MAX_MEMBERS = 500;

/** Reference: tools.md#get-roles, users.md#roles, permissions.md#table-permissions. */
export const getRoles = defineTool({
  name: 'Get-Roles',
  group: 'users',
  description: 'Roles, their members and what each may do per table.',
  input: { role: text(200).optional() },
  needs: ['mcp:view'],
  effect: 'read',
  about: '_Role',
  async run(call, { role: wanted }) {
    const all = await findRoles(call);
    const roles = wanted === undefined ? all : rolesNamed(all, [wanted]);
    const tables = knownTables(call);
    const results: JsonObject[] = [];
    for (const role of roles)
      results.push({
        objectId: role.objectId,
        name: role.name,
        ...(await membersOf(call, role, wanted === undefined ? MAX_MEMBERS_EACH : MAX_MEMBERS)),
        ...(await aboveOf(call, role)),
        rights: rightsOf(tables, [`role:${role.name}`]),
      });
    const open = rightsOf(tables, publicEntities);
    return brief({ results, ...(Object.keys(open).length > 0 && { everybodyWhoSignedIn: open }) });
  },
});

async function membersOf(call: ToolCall, role: Role, maxMembers: number): Promise<JsonObject> {
  const keys = ['name', 'username'];
  const members = await unless(accessErrors, null, () => findMembers(call, role, { keys, limit: maxMembers + 1 }));
  if (!members) return { hidden: ['_User'] };
  const shown = members.slice(0, maxMembers).map((user): JsonValue => ({ objectId: user.objectId, name: titleOf(user) ?? '' }));
  return { members: shown, ...(members.length > maxMembers && { moreMembers: true }) };
}

/** Returns the roles that contain this one: its members have their rights too. Reference: users.md#roles. */
async function aboveOf(call: ToolCall, { objectId }: Role): Promise<JsonObject> {
  const above = await findRoles(call, { roles: pointer('_Role', objectId) });
  return above.length > 0 ? { alsoHasRightsOf: above.map(({ name }) => name) } : {};
}

/** Omits rights and members if the answer is too long. */
function brief(answer: { results: JsonObject[] }): JsonObject {
  if (jsonBytes(answer) <= MAX_RESULT_BYTES) return answer;
  const results = answer.results.map(({ objectId = null, name = null }) => ({ objectId, name })).slice(0, MAX_MEMBERS);
  return { results, truncated: true, hint: 'For members and rights name a role.' };
}
