import { unique } from '../../support/records.ts';
import { setRole } from '../../support/users.ts';
import { changed, made, type Samples } from './sample.ts';

export const users: Samples = {
  'Get-My-Access': { args: () => ({}) },
  'Get-all-Users': { args: () => ({}) },
  'Get-Roles': { args: () => ({ role: 'Sales' }) },
  'Set-User-Roles': {
    args: async (world) => {
      await setRole(world, world.ids.user, 'Marketing', false);
      return { userId: world.ids.user, roles: ['Marketing'] };
    },
    wrote: async (world) => {
      const [role] = await world.find('_Role', { name: 'Marketing' });
      return [changed('_Role', role.objectId)];
    },
  },
  'Set-User-MCP-Permissions': {
    args: ({ ids }) => ({ userId: ids.user, permissions: ['mcp:view'] }),
    wrote: ({ ids }) => [changed('_User', ids.user)],
  },
  'Create-or-Update-User': {
    args: ({ ids }) => ({ objectId: ids.user, job: unique('Job') }),
    wrote: ({ ids }) => [changed('_User', ids.user)],
  },
  'Notify-User': {
    args: ({ ids }) => ({ userIds: [ids.user], content: 'Look' }),
    wrote: (_world, { results }) => [made('_Notification', results[0].objectId)],
  },
};
