import { made, type Samples } from './sample.ts';

export const reports: Samples = {
  'Get-Reports': { args: () => ({}) },
  'Run-Report': { args: ({ ids }) => ({ reportId: ids.report }) },
  'Save-Report': {
    args: () => ({ name: 'Saved', table: 'Accounts', keys: ['Name'] }),
    wrote: (_world, { reportId }) => [made('_DynamicQueries', reportId)],
  },
};
