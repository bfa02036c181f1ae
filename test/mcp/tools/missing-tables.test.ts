/** Agent tools in a system that has deleted tables of the template. Reference: agents.md#answers. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { path, useOwnStore } from '../../support/records.ts';
import { sampledEngines } from '../../support/service.ts';
import { byKey } from './callers.ts';

for (const engine of sampledEngines())
  describe(`tables that are not there (${engine})`, () => {
    const store = useOwnStore(engine);
    const { use, refused } = byKey(store);
    const drop = async (table: string): Promise<void> => {
      const { results } = (await store.call('GET', path(table), { query: { keys: 'objectId', limit: 100 } })).body;
      for (const { objectId } of results) assert.equal((await store.call('DELETE', path(table, objectId))).status, 200);
      const { status, text } = await store.call('DELETE', `/platform/schemas/${table}`);
      assert.equal(status, 200, text);
    };

    test('Get-Campaign-Stats without its log says so', async () => {
      const campaignId = await store.create('Campaigns', { Name: 'c' });
      await drop('CampaignSentLog');
      for (const args of [{}, { campaignId }, { errors: true }]) {
        const { results, missing } = await use('Get-Campaign-Stats', args);
        assert.deepEqual([results, missing], [[], ['CampaignSentLog']]);
      }
    });

    test('Get-Sales-Documents without one kind of documents, or their lines', async () => {
      const quote = await store.create('PriceQuotes', { Name: 'q' });
      await drop('AccountingInvoiceLines');
      const whole = await use('Get-Sales-Documents', { withLines: true });
      assert.deepEqual([whole.results.length, whole.missing], [1, ['AccountingInvoiceLines']]);
      await drop('AccountingHeaders');
      const rest = await use('Get-Sales-Documents');
      assert.deepEqual([rest.results[0].objectId, rest.missing], [quote, ['AccountingHeaders']]);
      assert.equal((await use('Get-Sales-Documents', { kind: 'quote' })).missing, undefined);
      await refused('Get-Sales-Documents', { kind: 'invoice' }, 107, /no table AccountingHeaders.*Next: Get-Schema/);
    });

    test('Get-Site-Pages without menus', async () => {
      await drop('SiteMenus');
      const { results, menus, missing } = await use('Get-Site-Pages', { menus: true });
      assert.deepEqual([results.length, menus, missing], [1, undefined, ['SiteMenus']]);
      assert.equal((await use('Get-Site-Pages')).missing, undefined);
    });
  });
