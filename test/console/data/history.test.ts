import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pointer } from '../../support/records.ts';
import { sampledEngines } from '../../support/service.ts';
import { type Answer, type Caller, openSystem, type TestSystem } from './system.ts';

for (const engine of sampledEngines())
  describe(`history, related records and search on ${engine}`, () => {
    let system: TestSystem;
    let sales: Caller;
    let reader: Caller;
    let account: string;
    const statuses: string[] = [];
    before(async () => {
      system = await openSystem(engine);
      sales = await system.user('Sales');
      reader = await system.user('ReadOnly');
      for (const Name of ['Waiting', 'Working']) statuses.push(await system.create('AccountStatuses', { Name }));
      account = await system.create('Accounts', { Name: 'Timeline Ltd', StatusId: status(0) });
    });
    after(() => system.close());

    const status = (at: number) => pointer('AccountStatuses', statuses[at] as string);
    const change = (changes: object, base: object) =>
      sales.call(`PUT /records/Accounts/${account}`, { body: { changes, base } as Answer });

    it('a change of a status: from what to what by their names, and who it was', async () => {
      await change({ StatusId: status(1) }, { StatusId: status(0) });
      const { entries, names, isKept, next } = await reader.call(`GET /history/Accounts/${account}`);
      assert.deepEqual([isKept, next, entries.length], [true, null, 2]);
      const [update, create] = entries;
      assert.deepEqual([update.event, update.by.objectId, update.via], ['update', sales.id, null]);
      assert.match(update.by.name, /^Name of/);
      const [{ field, from, to }] = update.changes;
      assert.deepEqual([field, from, to], ['StatusId', status(0), status(1)]);
      assert.deepEqual(names.AccountStatuses, { [statuses[0] as string]: 'Waiting', [statuses[1] as string]: 'Working' });
      assert.deepEqual([create.event, create.by, create.via], ['create', null, { kind: 'key' }]);
    });

    it('it comes page by page', async () => {
      for (let at = 0; at < 7; at++) await change({ City: `${at}` }, { City: at === 0 ? null : `${at - 1}` });
      const whole = await reader.call(`GET /history/Accounts/${account}`);
      const paged: Answer[] = [];
      for (let before: string | null = ''; before !== null; ) {
        const query: Record<string, string | number> = { limit: 2, ...(before !== '' && { before }) };
        const page: Answer = await reader.call(`GET /history/Accounts/${account}`, { query });
        assert.ok(page.entries.length <= 2);
        paged.push(...page.entries);
        before = page.next;
      }
      assert.deepEqual(paged, whole.entries);
      const cities = paged.flatMap(({ changes }) => changes).filter(({ field }: Answer) => field === 'City');
      assert.deepEqual(
        cities.map(({ from, to }: Answer) => [from, to]),
        [6, 5, 4, 3, 2, 1, 0].map((at) => [at === 0 ? null : `${at - 1}`, `${at}`]),
      );
    });

    it('where none is kept it says so; of a record that is gone it tells who might see it', async () => {
      const product = await system.create('LeadStatuses', { Name: 'None' });
      const { isKept, entries } = await reader.call(`GET /history/LeadStatuses/${product}`);
      assert.deepEqual([isKept, entries], [false, []]);
      const gone = await system.create('Accounts', { Name: 'Gone' });
      await system.remove('Accounts', gone);
      const past = await sales.call(`GET /history/Accounts/${gone}`);
      assert.deepEqual(
        past.entries.map(({ event }: Answer) => event),
        ['delete', 'create'],
      );
    });

    it('the records that point at one, by table: how many, the newest, and the filter for all', async () => {
      for (let at = 0; at < 7; at++) {
        await system.create('Contacts', { FirstName: `C${at}`, LastName: 'X', AccountId: pointer('Accounts', account) });
        await system.create('Cases', {
          Name: `Case ${at}`,
          AccountId: pointer('Accounts', account),
          ACL: { nobody: { read: true } },
        });
      }
      const { tables, tookTooLong } = await sales.call(`GET /related/Accounts/${account}`);
      assert.deepEqual(tookTooLong, []);
      assert.deepEqual(
        tables.map(({ table }: Answer) => table),
        ['Contacts'],
      );
      const [{ fields, count, rows, where }] = tables;
      assert.deepEqual([fields, count], [['AccountId'], 7]);
      const times = rows.map(({ createdAt }: Answer) => createdAt);
      assert.deepEqual([rows.length, times], [5, times.toSorted().reverse()]);
      assert.ok(rows.every(({ title }: Answer) => /^C\d X$/.test(title)));
      assert.equal((await sales.call('GET /count/Contacts', { query: { where } })).count, 7);
    });

    it('search finds over tables, best first; a picker has the beginnings of names first', async () => {
      for (const Name of ['Zebra Alpha', 'Alpha Beta', 'Alphabet', 'Beta Alpha']) await system.create('Products', { Name });
      const found = await sales.call('GET /search', { query: { q: 'alpha', tables: 'Products' } });
      assert.deepEqual(found.results.map(({ title }: Answer) => title).slice(0, 2), ['Alpha Beta', 'Alphabet']);
      assert.equal(found.results.length, 4);
      const all = await sales.call('GET /search', { query: { q: 'Timeline Ltd' } });
      assert.deepEqual([all.results[0].table, all.results[0].objectId, all.isPartial], ['Accounts', account, false]);
      const first = await sales.call('GET /search', { query: { q: '', tables: 'Products', limit: 2 } });
      assert.deepEqual(
        first.results.map(({ title }: Answer) => title),
        ['Alpha Beta', 'Alphabet'],
      );
      assert.deepEqual((await sales.call('GET /search')).results, []);
    });

    it('multi-select fields and Pointers of a block have their names in the same answer', async () => {
      await system.define('Accounts', { fields: { array_of_Pointer_Products: { type: 'Array' } } });
      const product = await system.create('Products', { Name: 'Chosen' });
      const holder = await system.create('Accounts', {
        Name: 'Holder',
        array_of_Pointer_Products: [pointer('Products', product)],
        StatusId: status(0),
        OwnerId: pointer('_User', sales.id),
      });
      const { names } = await sales.call('GET /rows/Accounts', { query: { where: { objectId: holder }, keys: 'Name' } });
      assert.deepEqual(names, {});
      const { names: all } = await sales.call('GET /rows/Accounts', { query: { where: { objectId: holder } } });
      assert.equal(all.Products[product], 'Chosen');
      assert.equal(all.AccountStatuses[statuses[0] as string], 'Waiting');
      assert.match(all._User[sales.id], /^Name of/);
    });
  });
