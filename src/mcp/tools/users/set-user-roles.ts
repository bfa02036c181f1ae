import { setUserRoles } from '../../../crm/admin/user-roles.ts';
import { names, objectId } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';

/** SPEC "Other system tables": `_Role`. What the user has by roles within roles stays as it is. */
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
