/** Sales: quotes and reports. */
import assert from 'node:assert/strict';
import { pointer } from '../../client/src/index.ts';
import { type Day, known, lookup } from './day.ts';

export async function quote(day: Day): Promise<string> {
  const { use, run } = day;
  const accountId = known(day.customerId);
  const { objectId: productId } = await use('Create-Record', { table: 'Products', data: { Name: `Desk ${run}`, Price: 1_200 } });
  const status = await lookup(day, 'SaleStatuses');
  const source = await lookup(day, 'LeadSource');
  const sale = await use('Create-Record', {
    table: 'Sales',
    data: {
      Name: `Office ${run}`,
      Total: 3_600,
      AccountId: pointer('Accounts', accountId),
      SaleStatusId: pointer('SaleStatuses', status.objectId),
      LeadSourceId: pointer('LeadSource', source.objectId),
      OwnerId: pointer('_User', known(day.ownerId)),
      ExternalId: `chores-${run}`,
    },
  });
  day.saleId = sale.objectId;

  // The first row uses the product's price; the second has its own.
  const rows = [
    { productId, quantity: 3, discount: 10, vatRate: 18 },
    { description: 'Delivery', price: 100, vatRate: 18 },
  ];
  const order = { accountId, saleId: sale.objectId, name: `Quote ${run}`, rows };
  const tried = await use('Create-Price-Quote', { ...order, dryRun: true });
  assert.deepEqual([tried.dryRun, tried.subTotal, tried.vat, tried.total], [true, 3_340, 601.2, 3_941.2], JSON.stringify(tried));
  const made = await use('Create-Price-Quote', order);
  const { results } = await use('Get-Sales-Documents', { kind: 'quote', objectId: made.objectId, withLines: true });
  assert.equal(results.length, 1, JSON.stringify(results));
  return `quote number ${made.number}: ${made.subTotal} and VAT ${made.vat} make ${made.total}`;
}

export async function report({ use, run, saleId }: Day): Promise<string> {
  const where = { ExternalId: `chores-${run}` };
  const saved = await use('Save-Report', {
    name: `Sales of run ${run}`,
    table: 'Sales',
    keys: ['Name', 'Total', 'AccountId'],
    where,
    order: '-Total',
  });
  const ran = await use('Run-Report', { reportId: saved.reportId });
  assert.deepEqual([ran.results.length, ran.results[0].objectId], [1, known(saleId)], JSON.stringify(ran));

  const metrics = [
    { op: 'count', as: 'sales' },
    { op: 'sum', field: 'Total', as: 'total' },
  ];
  const byMonth = await use('Aggregate-Data', { table: 'Sales', groupBy: ['createdAt'], dateBucket: 'month', metrics, where });
  const bySource = await use('Aggregate-Data', { table: 'Sales', groupBy: ['LeadSourceId'], metrics, where });
  for (const { results } of [byMonth, bySource])
    assert.deepEqual([results.length, results[0].sales, results[0].total], [1, 1, 3_600], JSON.stringify(results));
  const { results: stages } = await use('Get-Pipeline-Summary', { groupBy: 'source' });
  assert.ok(stages.length > 0);
  return `${ran.name}: ${ran.results.length} row; ${bySource.results[0].total} of one source in one month`;
}
