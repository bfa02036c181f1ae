import { obstacleTo, type ToolObstacle } from '../../../access/index.ts';
import { getRow } from '../../../crm/queries/records.ts';
import { accessErrors, unless } from '../../../crm/refusals.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { agentPermissionsOf } from '../../../users/index.ts';
import { defineTool, type ToolCall } from '../../definition/tool.ts';

/** Reference: tools.md#get-my-access, agents.md#tool-rights. */
export const getMyAccess = defineTool({
  name: 'Get-My-Access',
  group: 'users',
  description: 'Who this connection is: system, user or API key, roles, MCP permissions, and which tools it may use.',
  input: {},
  needs: [],
  effect: 'read',
  about: '_User',
  async run(call) {
    const { appId, name } = call.system;
    const { usable, refused } = toolsOf(call);
    return {
      system: { appId, name },
      ...(await callerOf(call)),
      tools: usable,
      ...(refused.size > 0 && { refused: Object.fromEntries(refused) }),
    };
  },
});

async function callerOf(call: ToolCall): Promise<JsonObject> {
  const { principal, store } = call;
  if (principal.kind === 'apiKey') return { caller: { kind: 'API key', name: principal.name, writesAs: 'master' } };
  if (principal.kind !== 'user') return { caller: { kind: 'master key', writesAs: 'master' } };
  const { userId, roles, agent } = principal;
  const user = await unless([...accessErrors, 'objectNotFound'], null, () =>
    getRow(call, '_User', userId, { keys: ['name', 'username'] }),
  );
  const { name = null, username = null }: JsonObject = user ?? {};
  const own = await agentPermissionsOf(store, userId);
  return {
    caller: { kind: 'user', objectId: userId, ...(name !== null && { name }), ...(username !== null && { username }) },
    roles: [...roles],
    mcpPermissions: [...(agent?.permissions ?? [])],
    mcpPermissionsOfUser: [...(own ?? [])].sort(),
    advancedTools: agent?.advanced === true,
  };
}

/** Returns the names of the tools that the caller may use, and the others grouped by what they need. */
function toolsOf({ principal, tools }: ToolCall): { usable: string[]; refused: ReadonlyMap<string, string[]> } {
  const usable: string[] = [];
  const refused = new Map<string, string[]>();
  for (const tool of tools()) {
    const obstacle = obstacleTo(principal, tool);
    if (obstacle === null) usable.push(tool.name);
    else refused.set(reasonOf(obstacle), [...(refused.get(reasonOf(obstacle)) ?? []), tool.name]);
  }
  return { usable, refused };
}

function reasonOf(obstacle: NonNullable<ToolObstacle>): string {
  if (obstacle === 'credential') return 'no credential for tools';
  if (obstacle === 'role') return 'needs the role Admin';
  if (obstacle === 'switch') return 'needs the row McpAdvancedTools of Config';
  return `needs ${obstacle.lacks}, of the user and granted at sign-in`;
}
