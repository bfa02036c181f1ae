import { unique } from '../../support/records.ts';
import type { World } from '../world.ts';
import { changed, made, type Samples, type Written } from './sample.ts';

const labelled = async (world: World, value: string): Promise<Written[]> =>
  (await world.find('_Dictionary', { value })).map(({ objectId }) => changed('_Dictionary', objectId));

export const schema: Samples = {
  'Create-Table': {
    args: () => ({ className: unique('Made'), label: unique('Label') }),
    wrote: async (world, _answer, { label }) => (await labelled(world, label)).map(({ table, id }) => made(table, id)),
  },
  'Add-Fields': { args: ({ tableName }) => ({ className: tableName, fields: [{ name: unique('Field'), type: 'String' }] }) },
  'Set-Field-Labels': {
    args: ({ tableName }) => ({ className: tableName, labels: { Name: unique('Label') } }),
    wrote: (world, _answer, { labels }) => labelled(world, labels.Name),
  },
  'Set-Table-Permissions': { args: ({ tableName }) => ({ className: tableName, permissions: { find: ['Admin', 'Sales'] } }) },
  'Set-Table-Timeline': { args: ({ tableName }) => ({ className: tableName, displayFields: { Name: true } }) },
  'Get-Terminology-Dictionary': { args: () => ({}) },
  'Set-Terminology-Dictionary': {
    args: () => ({ terms: { Sales: unique('Projects') } }),
    wrote: (world, _answer, { terms }) => labelled(world, terms.Sales),
  },
};
