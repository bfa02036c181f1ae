import { changed, made, type Samples } from './sample.ts';

export const work: Samples = {
  'Create-Task': {
    args: ({ ids }) => ({ name: 'Task', accountId: ids.account }),
    wrote: (_world, { objectId }) => [made('Tasks', objectId)],
  },
  'Complete-Task': {
    args: async (world) => ({ objectId: await world.create('Tasks', { Name: 'Task' }) }),
    wrote: (_world, _answer, { objectId }) => [changed('Tasks', objectId)],
  },
  'Get-Tasks': { args: () => ({}) },
  'Schedule-Activity': {
    args: () => ({
      name: 'Meeting',
      startTime: '2030-02-01T09:00:00.000Z',
      endTime: '2030-02-01T10:00:00.000Z',
      allowConflict: true,
    }),
    wrote: (_world, { objectId }) => [made('Activities', objectId)],
  },
  'Get-Calendar': { args: () => ({ from: '2030-01-01T00:00:00.000Z', to: '2030-01-08T00:00:00.000Z' }) },
};
