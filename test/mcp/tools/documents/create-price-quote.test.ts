/** Reference: tools.md#create-price-quote. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { type Json, pointer, useStore } from '../../../support/records.ts';
import { sampledEngines } from '../../../support/service.ts';
import { byKey, byUser } from '../callers.ts';
import { replaceField } from '../restored.ts';

for (const engine of sampledEngines())
  describe(`Create-Price-Quote on ${engine}`, () => {
    const store = useStore(engine);
    const { use, refused } = byKey(store);
    let account: string;
    let other: string;
    let sale: string;
    const products = new Map<string, string>();
    const product = (name: string): string => products.get(name) ?? '';

    before(async () => {
      account = await store.create('Accounts', { Name: 'Dana' });
      other = await store.create('Accounts', { Name: 'Omer' });
      sale = await store.create('Sales', { Name: 'Deal', AccountId: pointer('Accounts', account) });
      const shekel = { CurrencyId: pointer('Currencies', 'shekel0001') };
      const list: [string, object][] = [
        ['Chair', { Price: 19.99, Active: true, ...shekel }],
        ['Table', { Price: 100, ...shekel }],
        ['Old', { Price: 5, Active: false }],
        ['Free', { Active: true }],
        ['Import', { Price: 9, CurrencyId: pointer('Currencies', 'dollar0001') }],
        ['Gross', { Price: 117, VatIncluded: true }],
      ];
      for (const [Name, fields] of list) products.set(Name, await store.create('Products', { Name, ...fields }));
    });

    const tables = ['PriceQuotes', 'SaleRows'];
    const counts = async () => Promise.all(tables.map(async (table) => (await store.all(table)).length));

    test('the quote and its rows are one commit, priced and numbered', async () => {
      // No other suite uses numbers this high.
      await store.create('PriceQuotes', { Number: 7_000_041 });
      const rows = [
        { productId: product('Chair'), quantity: 3, discount: 10 },
        { productId: product('Table'), price: 90.5, description: 'By the window' },
        { description: 'Delivery', price: 35 },
      ];
      const made = await use('Create-Price-Quote', { accountId: account, saleId: sale, rows, name: 'Q' });
      assert.deepEqual([made.number, made.subTotal, made.total, made.vat], [7_000_042, 179.47, 179.47, undefined]);
      assert.deepEqual(
        made.rows.map(({ total }: Json) => total),
        [53.97, 90.5, 35],
      );
      assert.match(made.computed, /VAT was not computed/);
      const quote = await store.read('PriceQuotes', made.objectId);
      assert.deepEqual([quote.Number, quote.Name, quote.Total, quote.SubTotal], [7_000_042, 'Q', 179.47, 179.47]);
      assert.deepEqual([quote.AccountId, quote.SaleId], [pointer('Accounts', account), pointer('Sales', sale)]);
      assert.deepEqual(quote.CurrencyId, pointer('Currencies', 'shekel0001'));
      assert.deepEqual(quote.createdBy, pointer('_User', 'master'));
      const lines = (await store.all('SaleRows')).filter(({ PriceQuoteId }) => PriceQuoteId?.objectId === made.objectId);
      assert.deepEqual(
        lines.map(({ objectId }) => objectId),
        made.rows.map(({ objectId }: Json) => objectId),
      );
      assert.deepEqual(
        lines.map(({ Description, Quantity, UnitPrice, Discount, Total, SortOrder }) => [
          ...[Description, Quantity, UnitPrice, Discount, Total, SortOrder],
        ]),
        [
          ['Chair', 3, 19.99, 10, 53.97, 1],
          ['By the window', 1, 90.5, undefined, 90.5, 2],
          ['Delivery', 1, 35, undefined, 35, 3],
        ],
      );
      assert.deepEqual(lines[0]?.SaleId, pointer('Sales', sale));
      const where = { objectIdValue: made.objectId };
      const { body } = await store.call('GET', '/platform/classes/_Timeline', { query: { where } });
      assert.deepEqual(
        body.results.map(({ event, objectClass }: Json) => [event, objectClass]),
        [['create', 'PriceQuotes']],
      );
    });

    test('VAT is added, or taken out of prices that contain it', async () => {
      const rows = [
        { productId: product('Table'), vatRate: 17 },
        { productId: product('Gross'), vatRate: 17 },
      ];
      const made = await use('Create-Price-Quote', { accountId: account, rows });
      assert.deepEqual([made.subTotal, made.vat, made.total], [200, 34, 234]);
      assert.deepEqual(
        made.rows.map(({ vat, total }: Json) => [vat, total]),
        [
          [17, 100],
          [17, 117],
        ],
      );
      const quote = await store.read('PriceQuotes', made.objectId);
      assert.deepEqual([quote.SubTotal, quote.VatValue, quote.Total], [200, 34, 234]);
    });

    test('two at once do not get one number', async () => {
      const rows = [{ productId: product('Table') }];
      const made = await Promise.all(Array.from({ length: 8 }, () => use('Create-Price-Quote', { accountId: account, rows })));
      assert.equal(new Set(made.map(({ number }) => number)).size, 8);
    });

    test('a dry run checks all and writes nothing', async () => {
      const before = await counts();
      const rows = [{ productId: product('Chair'), quantity: 2 }];
      const seen = await use('Create-Price-Quote', { accountId: account, rows, dryRun: true });
      assert.deepEqual([seen.dryRun, seen.total, seen.objectId], [true, 39.98, undefined]);
      assert.equal(typeof seen.number, 'number');
      await refused('Create-Price-Quote', { accountId: account, rows: [{ productId: product('Old') }], dryRun: true }, 107);
      assert.deepEqual(await counts(), before);
    });

    const row = () => ({ productId: product('Table') });
    const wrong: [string, () => Json[], RegExp][] = [
      ['an inactive product', () => [row(), { productId: product('Old') }], /rows\[1\] names a product that is not active/],
      ['a product that is not there', () => [{ productId: 'nobodynobo' }], /rows\[0\] names a product that does not exist/],
      ['no price', () => [row(), row(), { productId: product('Free') }], /rows\[2\] has no price/],
      ['neither product nor price', () => [{ description: 'x' }], /rows\[0\] has no productId/],
      ['a negative quantity', () => [{ ...row(), quantity: -1 }], /rows\[0\]\.quantity must be over 0 /],
      ['a discount over 100', () => [{ ...row(), discount: 101 }], /rows\[0\]\.discount must be at most 100 /],
      ['a price that is text', () => [{ ...row(), price: '5' }], /rows\[0\]\.price must be of type number /],
      ['an unknown key', () => [{ ...row(), qty: 1 }], /rows\[0\] qty is unknown /],
      ['several currencies', () => [row(), { productId: product('Import') }], /several currencies/],
      ['no rows', () => [], /rows must not be empty/],
      ['too many rows', () => Array(201).fill(row()), /at most 200/],
    ];
    for (const [what, rows, text] of wrong)
      test(`${what} is refused, and nothing is written`, async () => {
        const before = await counts();
        await refused('Create-Price-Quote', { accountId: account, rows: rows() }, 107, text);
        assert.deepEqual(await counts(), before);
      });

    test('the account, the sale and the template have to be there', async () => {
      const rows = [row()];
      await refused('Create-Price-Quote', { accountId: 'nobodynobo', rows }, 107, /accountId: there is no such record/);
      await refused('Create-Price-Quote', { accountId: account, saleId: 'nobodynobo', rows }, 107, /saleId/);
      await refused('Create-Price-Quote', { accountId: other, saleId: sale, rows }, 107, /of another account/);
      await refused(
        'Create-Price-Quote',
        { accountId: account, templateId: 'nobodynobo', rows },
        107,
        /templateId.*Next: Get-Data on DocumentTemplates\.$/,
      );
      const template = await store.create('DocumentTemplates', { Name: 'T' });
      const made = await use('Create-Price-Quote', { accountId: account, templateId: template, rows });
      assert.deepEqual((await store.read('PriceQuotes', made.objectId)).TemplateId, pointer('DocumentTemplates', template));
    });

    test('what is sent is stored, or refused: rows without a product are their description', async (t) => {
      const rows = [{ description: 'Delivery', price: 35 }];
      const made = await use('Create-Price-Quote', { accountId: account, rows });
      assert.equal(made.rows[0].description, 'Delivery');
      assert.equal((await store.read('SaleRows', made.rows[0].objectId)).Description, 'Delivery');
      await replaceField(t, store, 'SaleRows', 'Description');
      const before = await counts();
      const text = /description cannot be stored: SaleRows has no field Description.*Next: Add-Fields/;
      await refused('Create-Price-Quote', { accountId: account, rows }, 107, text);
      assert.deepEqual(await counts(), before);
      await use('Create-Price-Quote', { accountId: account, rows: [row()] });
    });

    test('users write by the permissions of the tables', async () => {
      const args = { accountId: account, rows: [row()] };
      const finance = await byUser(store, ['Finance']);
      const before = await counts();
      await finance.refused('Create-Price-Quote', args, 119, /^Permission denied for action create on class PriceQuotes/);
      await finance.refused('Create-Price-Quote', { ...args, dryRun: true }, 119, /create on class PriceQuotes/);
      assert.deepEqual(await counts(), before);
      const sales = await byUser(store, ['Sales']);
      const { objectId, rows } = await sales.use('Create-Price-Quote', args);
      const quote = await store.read('PriceQuotes', objectId);
      assert.deepEqual([quote.createdBy, quote.OwnerId], Array(2).fill(pointer('_User', sales.id)));
      assert.deepEqual((await store.read('SaleRows', rows[0].objectId)).createdBy, pointer('_User', sales.id));
      const rules = (await store.call('GET', '/platform/schemas/SaleRows')).body.classLevelPermissions;
      await store.call('PUT', '/platform/schemas/SaleRows', { body: { classLevelPermissions: { ...rules, create: {} } } });
      const later = await counts();
      await sales.refused('Create-Price-Quote', args, 119, /create on class SaleRows/);
      assert.deepEqual(await counts(), later, 'no quote without its rows');
      await store.call('PUT', '/platform/schemas/SaleRows', { body: { classLevelPermissions: rules } });
    });
  });
