import { made, type Samples } from './sample.ts';

export const automation: Samples = {
  'Get-Triggers': { args: () => ({}) },
  'Set-Trigger': {
    args: ({ tableName }) => ({ className: tableName, name: 'Made', event: 'create', actions: [], active: false }),
    wrote: (_world, { triggerId }) => [made('_Trigger', triggerId)],
  },
  'Get-Trigger-Logs': { args: () => ({}) },
  'Test-Trigger': { args: ({ ids, row }) => ({ triggerId: ids.trigger, objectId: row }) },
};
