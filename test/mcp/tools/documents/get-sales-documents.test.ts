/** Reference: tools.md#get-sales-documents. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { date, type Json, pointer, useStore } from '../../../support/records.ts';
import { sampledEngines } from '../../../support/service.ts';
import { byKey, byUser } from '../callers.ts';
import { permit } from '../tables.ts';

/** Later than all documents of other suites. */
const day = (n: number): string => `2090-01-${String(n).padStart(2, '0')}T10:00:00.000Z`;

for (const engine of sampledEngines())
  describe(`Get-Sales-Documents on ${engine}`, () => {
    const store = useStore(engine);
    const { use, call, refused } = byKey(store);
    let account: string;
    let other: string;
    let chair: string;

    let invoice: string;
    let quote: string;
    const ours: string[] = [];
    const idOf = async (code: number): Promise<string> => {
      const { body } = await store.call('GET', '/platform/classes/DocTypes', { query: { where: { Code: code } } });
      return body.results[0].objectId;
    };
    before(async () => {
      account = await store.create('Accounts', { Name: 'Dana' });
      other = await store.create('Accounts', { Name: 'Omer' });
      chair = await store.create('Products', { Name: 'Chair', Price: 19.99 });
      const of = { AccountId: pointer('Accounts', account) };
      const header = async (code: number, n: number, more: object = {}) => {
        const id = await store.create('AccountingHeaders', {
          ...{
            ...of,
            Number: n,
            DocTypeId: pointer('DocTypes', await idOf(code)),
            DocumentDate: date(day(n)),
            TotalSum: n * 10,
          },
          ...more,
        });
        ours.push(id);
        return id;
      };
      invoice = await header(305, 1, { SubTotal: 8.5, VatValue: 1.5, CustomerName: 'Dana Ltd' });
      await header(320, 2);
      await header(400, 3);
      await header(100, 4, { AccountId: pointer('Accounts', other) });
      quote = await store.create('PriceQuotes', { ...of, Number: 5, Name: 'Q', Total: 50, QuoteDate: date(day(5)) });
      ours.push(quote);
      for (const n of [2, 1])
        await store.create('SaleRows', {
          ...{ PriceQuoteId: pointer('PriceQuotes', quote), ProductId: pointer('Products', chair) },
          ...{ SortOrder: n, Quantity: n, UnitPrice: 25, Total: n * 25 },
        });
      await store.create('AccountingInvoiceLines', {
        ...{
          AccountingHeaderId: pointer('AccountingHeaders', invoice),
          LineNumber: 1,
          Description: 'Work',
          Total: 8.5,
          VatValue: 1.5,
        },
      });
    });

    const numbers = ({ results }: Json) =>
      results.filter((one: Json) => ours.includes(one.objectId)).map(({ kind, number }: Json) => `${kind} ${number}`);
    const all = ['quote 5', 'order 4', 'receipt 3', 'invoice 2', 'invoice 1'];
    const found: [string, () => object, readonly string[]][] = [
      ['all', () => ({}), all],
      ['quotes', () => ({ kind: 'quote' }), ['quote 5']],
      ['invoices', () => ({ kind: 'invoice' }), ['invoice 2', 'invoice 1']],
      ['receipts', () => ({ kind: 'receipt' }), ['receipt 3', 'invoice 2']],
      ['orders', () => ({ kind: 'order' }), ['order 4']],
      ['an account', () => ({ accountId: account }), all.filter((one) => one !== 'order 4')],
      ['a number', () => ({ number: '3' }), ['receipt 3']],
      ['a range', () => ({ from: day(3), to: day(4) }), ['order 4', 'receipt 3']],
      ['an id', () => ({ objectId: invoice }), ['invoice 1']],
      ['nothing', () => ({ accountId: 'nobodynobo' }), []],
    ];
    for (const [what, args, expected] of found)
      test(`documents are found by ${what}`, async () =>
        assert.deepEqual(numbers(await use('Get-Sales-Documents', args())), expected));

    test('they come in one form, with their lines', async () => {
      const { results } = await use('Get-Sales-Documents', { withLines: true, accountId: account });
      const [first, ...others] = results;
      assert.deepEqual([first.name, first.total, first.date, first.account.Name], ['Q', 50, day(5), 'Dana']);
      assert.deepEqual(
        first.lines.map((line: Json) => [line.product.Name, line.quantity, line.unitPrice, line.total]),
        [
          ['Chair', 1, 25, 25],
          ['Chair', 2, 25, 50],
        ],
      );
      const last = others.at(-1);
      assert.deepEqual([last.subTotal, last.vat, last.total, last.name, last.type], [8.5, 1.5, 10, 'Dana Ltd', 'חשבונית מס']);
      assert.deepEqual([last.lines.length, last.lines[0].description, last.lines[0].vat], [1, 'Work', 1.5]);
      const { results: bare } = await use('Get-Sales-Documents');
      assert.equal(bare[0].lines, undefined);
      assert.equal((await use('Get-Sales-Documents', { objectId: quote })).results[0].lines.length, 2);
    });

    test('the file of a document is linked', async () => {
      const { service } = store;
      const upload = await fetch(`${service().url}/platform/files/quote.pdf`, {
        method: 'POST',
        headers: {
          'X-Platform-Application-Id': service().appId,
          'X-Platform-API-Key': service().apiKey,
          'Content-Type': 'application/pdf',
        },
        body: '%PDF-1.4\n%%EOF',
      });
      const file = (await upload.json()) as Json;
      await store.update('PriceQuotes', quote, { Pdf: { __type: 'File', ...file } });
      const { results } = await use('Get-Sales-Documents', { kind: 'quote' });
      assert.match(results[0].file, new RegExp(`/PriceQuotes/${quote}/Pdf$`));
    });

    test('pages, and what is refused', async () => {
      const first = await use('Get-Sales-Documents', { limit: 3 });
      assert.deepEqual([numbers(first), first.nextSkip], [all.slice(0, 3), 3]);
      assert.deepEqual(numbers(await use('Get-Sales-Documents', { limit: 3, skip: 3 })), all.slice(3));
      await refused('Get-Sales-Documents', { number: 'abc' }, 107, /number must be a number/);
      await refused('Get-Sales-Documents', { kind: 'bill' }, 107, /must be one of quote/);
      await refused('Get-Sales-Documents', { accountId: 'short' }, 107, /10 characters/);
    });

    test('what a user may not see is left out and reported', async (t) => {
      const sales = await byUser(store, ['Sales']);
      assert.deepEqual(numbers(await sales.use('Get-Sales-Documents')), all);
      const change = async (table: string, find: object) => {
        const rules = (await store.call('GET', `/platform/schemas/${table}`)).body.classLevelPermissions;
        t.after(() => permit(store, table, rules));
        await permit(store, table, { ...rules, find });
      };
      await change('AccountingHeaders', {});
      await change('SaleRows', {});
      const page = await sales.use('Get-Sales-Documents', { withLines: true });
      assert.deepEqual([numbers(page), page.hidden], [['quote 5'], ['AccountingHeaders', 'SaleRows']]);
      await sales.refused(
        'Get-Sales-Documents',
        { kind: 'invoice' },
        119,
        /^Permission denied for action find on class AccountingHeaders/,
      );
    });

    test('a system without the document types says so', async (t) => {
      const objectId = await idOf(100);
      t.after(() => store.update('DocTypes', objectId, { Code: 100 }));
      await store.update('DocTypes', objectId, { Code: 1 });
      await refused('Get-Sales-Documents', { kind: 'order' }, 107, /no row of DocTypes is of the kind order/);
      await store.update('DocTypes', objectId, { Code: null });
      assert.ok(!(await call('Get-Sales-Documents', { kind: 'order' })).isError, 'its name says so');
    });
  });
