import { z } from 'zod';
import { agentPermissions } from '../../../access/index.ts';
import { choice, objectId } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';
import { updateRow } from '../../kit/writing/records.ts';

/** SPEC "Authentication: Agent-tool layer" 1. They count from the next call on: a user is read at each. */
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
