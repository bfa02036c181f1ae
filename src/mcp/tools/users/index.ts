import type { Tool } from '../../definition/tool.ts';
import { createOrUpdateUser, setUserMcpPermissions, setUserRolesTool } from './change-user.ts';
import { getAllUsers } from './get-all-users.ts';
import { getMyAccess } from './get-my-access.ts';
import { getRoles } from './get-roles.ts';
import { notifyUser } from './notify-user.ts';

export const usersTools: readonly Tool[] = [
  getMyAccess,
  getAllUsers,
  getRoles,
  setUserRolesTool,
  setUserMcpPermissions,
  createOrUpdateUser,
  notifyUser,
];
