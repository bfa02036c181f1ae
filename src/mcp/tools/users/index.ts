import type { Tool } from '../../definition/tool.ts';
import { createOrUpdateUser } from './create-or-update-user.ts';
import { getAllUsers } from './get-all-users.ts';
import { getMyAccess } from './get-my-access.ts';
import { getRoles } from './get-roles.ts';
import { notifyUser } from './notify-user.ts';
import { setUserMcpPermissions } from './set-user-mcp-permissions.ts';
import { setUserRoles } from './set-user-roles.ts';

export const usersTools: readonly Tool[] = [
  getMyAccess,
  getAllUsers,
  getRoles,
  setUserRoles,
  setUserMcpPermissions,
  createOrUpdateUser,
  notifyUser,
];
