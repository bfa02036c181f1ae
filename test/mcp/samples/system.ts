import { unique } from '../../support/records.ts';
import { changed, type Samples } from './sample.ts';

export const system: Samples = {
  'Get-System-Info': { args: () => ({}) },
  'Get-Config-Flags': { args: () => ({}) },
  'Set-Config-Flag': {
    args: () => ({ name: 'SampleFlag', value: { SampleFlag: true, at: unique('t') } }),
    wrote: (_world, { objectId }) => [changed('Config', objectId)],
  },
};
