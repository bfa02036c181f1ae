import type { Samples } from './sample.ts';

export const history: Samples = {
  'Get-Timeline': { args: ({ ids }) => ({ table: 'Accounts', objectId: ids.account }) },
  'Get-Recent-Changes': { args: () => ({ since: '2020-01-01T00:00:00.000Z', limit: 5 }) },
  'Get-Request-Log': { args: () => ({ limit: 5 }) },
};
