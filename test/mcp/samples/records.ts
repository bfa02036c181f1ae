import { unique } from '../../support/records.ts';
import type { World } from '../world.ts';
import { changed, made, type Samples } from './sample.ts';

const newContact = (world: World) => world.create('Contacts', { FirstName: 'Contact' });

export const records: Samples = {
  'Get-Schema': { args: () => ({ className: 'Accounts' }) },
  'Get-Data': { args: () => ({ table: 'Accounts', limit: 1 }) },
  'Get-Record': { args: ({ ids }) => ({ table: 'Accounts', objectId: ids.account }) },
  'Count-Data': { args: () => ({ table: 'Accounts', where: { IsAccount: true } }) },
  'Aggregate-Data': {
    args: () => ({ table: 'Sales', groupBy: ['AccountId'], metrics: [{ op: 'sum', field: 'Total', as: 'total' }] }),
  },
  'Get-Related-Records': { args: ({ ids }) => ({ table: 'Accounts', objectId: ids.account }) },
  'Get-Lookup-Values': { args: () => ({ tables: ['TaskStatuses'] }) },
  'Get-Table-Stats': { args: () => ({ tables: ['Accounts'] }) },
  'Validate-Records': { args: () => ({ table: 'Accounts', data: [{ Name: 'Somebody' }] }) },
  'Create-Record': {
    args: () => ({ table: 'Contacts', data: { FirstName: 'New' } }),
    wrote: (_world, { objectId }) => [made('Contacts', objectId)],
  },
  'Create-Many': {
    args: () => ({ table: 'Contacts', data: [{ FirstName: 'One' }, { FirstName: 'Two' }] }),
    wrote: (_world, { results }) =>
      results.map(({ success }: { success: { objectId: string } }) => made('Contacts', success.objectId)),
  },
  'Update-Record': {
    args: async (world) => ({ table: 'Contacts', objectId: await newContact(world), data: { LastName: 'Changed' } }),
    wrote: (_world, _answer, { objectId }) => [changed('Contacts', objectId)],
  },
  'Update-Many': {
    args: async (world) => ({
      table: 'Contacts',
      updates: [{ objectId: await newContact(world), data: { LastName: 'Changed' } }],
    }),
    wrote: (_world, _answer, { updates }) => [changed('Contacts', updates[0].objectId)],
  },
  'Upsert-Record': {
    args: () => ({ table: 'Contacts', matchOn: ['ExternalId'], data: { ExternalId: unique('x'), FirstName: 'New' } }),
    wrote: (_world, { objectId }) => [made('Contacts', objectId)],
  },
};
