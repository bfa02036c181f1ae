import { unique } from '../../support/records.ts';
import type { World } from '../world.ts';
import { changed, made, type Samples } from './sample.ts';

const newLead = (world: World) => world.create('Accounts', { Name: 'Lead', IsAccount: false });

export const crm: Samples = {
  'Search-Records': { args: () => ({ query: '052-7654321' }) },
  'Find-Duplicates': { args: () => ({ phone: '0527654321' }) },
  'Get-Customer-Card': { args: ({ ids }) => ({ objectId: ids.account }) },
  'Get-Pipeline-Summary': { args: () => ({}) },
  'Import-Records': {
    args: () => ({ table: 'Contacts', rows: [{ FirstName: unique('Imported') }] }),
    wrote: async (world, _answer, { rows }) => {
      const found = await world.find('Contacts', { FirstName: rows[0].FirstName });
      return found.map(({ objectId }) => made('Contacts', objectId));
    },
  },
  'Convert-Lead': {
    args: async (world) => ({ objectId: await newLead(world) }),
    wrote: (_world, _answer, { objectId }) => [changed('Accounts', objectId)],
  },
  'Assign-Owner': {
    args: async (world) => ({ table: 'Accounts', objectIds: [await newLead(world)], userId: world.ids.user }),
    wrote: (_world, _answer, { objectIds }) => [changed('Accounts', objectIds[0])],
  },
  'Add-Note': {
    args: ({ ids }) => ({ table: 'Accounts', objectId: ids.account, comment: 'Noted' }),
    wrote: (_world, { objectId }) => [made('Notes', objectId)],
  },
};
