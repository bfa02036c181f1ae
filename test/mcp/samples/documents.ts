import type { Json } from '../../support/records.ts';
import { made, type Samples } from './sample.ts';

export const documents: Samples = {
  'Get-Messages': { args: ({ ids }) => ({ accountId: ids.account }) },
  'Get-Campaign-Stats': { args: ({ ids }) => ({ campaignId: ids.campaign }) },
  'Get-Sales-Documents': { args: ({ ids }) => ({ accountId: ids.account, withLines: true }) },
  'Create-Price-Quote': {
    args: ({ ids }) => ({ accountId: ids.account, rows: [{ productId: ids.product, quantity: 2 }] }),
    wrote: (_world, { objectId, rows }) => [
      made('PriceQuotes', objectId),
      ...rows.map((row: Json) => made('SaleRows', row.objectId)),
    ],
  },
};
