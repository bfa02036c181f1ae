import { z } from 'zod';
import { agentPermissions } from '../../../access/index.ts';
import { setUserRoles } from '../../../crm/admin/user-roles.ts';
import { createRow, updateRow } from '../../../crm/commands/records.ts';
import { getRow } from '../../../crm/queries/records.ts';
import { badArguments } from '../../../crm/refusals.ts';
import { type JsonObject, type JsonValue, omitUndefined } from '../../../kernel/json.ts';
import { choice, flag, names, objectId, text } from '../../definition/parameters.ts';
import { withJsonSchema } from '../../definition/schema.ts';
import { defineTool, type ToolCall } from '../../definition/tool.ts';

/** A string that may be empty, which clears the field. */
const words = () => withJsonSchema(z.string().max(1_000), { type: 'string' }).optional();

/** Creates no session, and never returns a password. Reference: tools.md#create-or-update-user, users.md#create-a-user. */
export const createOrUpdateUser = defineTool({
  name: 'Create-or-Update-User',
  group: 'users',
  description: 'Create a user or change one; active=false blocks sign-in.',
  input: {
    objectId: objectId().optional(),
    username: text(1_000).optional(),
    password: text(1_000).optional(),
    name: words(),
    email: words(),
    phone: words(),
    extension: words(),
    job: words(),
    language: words(),
    active: flag().optional(),
    isPortalUser: flag().optional(),
  },
  needs: ['mcp:edit-page-and-schema'],
  isAdvanced: true,
  effect: 'change',
  about: '_User',
  listedBy: 'Get-all-Users',
  async run(call, { objectId: id, ...sent }) {
    const fields = omitUndefined(sent);
    return id === undefined ? create(call, fields) : change(call, id, fields);
  },
});

async function create(call: ToolCall, fields: JsonObject): Promise<JsonValue> {
  const { objectId: id, createdAt } = await createRow(call, '_User', fields);
  return { objectId: id, createdAt, hint: 'Without a role the user may read and write nothing: Set-User-Roles.' };
}

async function change(call: ToolCall, id: string, fields: JsonObject): Promise<JsonValue> {
  const changed = Object.keys(fields);
  if (changed.length === 0) badArguments('nothing is to be changed', { expected: 'objectId and one field at least' });
  await getRow(call, '_User', id, { keys: ['objectId'] });
  const { updatedAt = null } = await updateRow(call, '_User', id, fields);
  return { objectId: id, updatedAt, changed };
}

/** Takes effect with the next call, because each call reads the user. Reference: tools.md#set-user-mcp-permissions, agents.md#mcp-permissions. */
export const setUserMcpPermissions = defineTool({
  name: 'Set-User-MCP-Permissions',
  group: 'users',
  description: 'Replace the MCP permissions of a user.',
  input: { userId: objectId(), permissions: z.array(choice(agentPermissions)) },
  needs: ['mcp:edit-page-and-schema'],
  isAdvanced: true,
  effect: 'change',
  isIdempotent: true,
  about: '_User',
  listedBy: 'Get-all-Users',
  async run(call, { userId, permissions }) {
    const mcpPermissions = [...new Set(permissions)];
    const { updatedAt = null } = await updateRow(call, '_User', userId, { mcpPermissions });
    return { objectId: userId, updatedAt, mcpPermissions };
  },
});

/** Roles that the user has through other roles stay. Reference: tools.md#set-user-roles, users.md#roles. */
export const setUserRolesTool = defineTool({
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
  run: (call, { userId, roles }) => setUserRoles(call, userId, roles),
});
