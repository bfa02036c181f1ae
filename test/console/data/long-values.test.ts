import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pointer } from '../../support/records.ts';
import { sampledEngines } from '../../support/service.ts';
import { type Answer, type Caller, openSystem, type TestSystem } from './system.ts';

/** The longest text that public forms accept, in so many records that they should not all be in memory at once. */
const LONG = 'x'.repeat(900_000);
const RECORDS = 20;

for (const engine of sampledEngines())
  describe(`what forms may leave behind, on ${engine}`, () => {
    let system: TestSystem;
    let sales: Caller;
    let usual: string;
    before(async () => {
      system = await openSystem(engine);
      sales = await system.user('Sales');
      usual = await system.create('Accounts', { Name: 'Usual', City: 'Haifa' });
      await system.create('Contacts', { FirstName: 'One', AccountId: pointer('Accounts', usual) });
      for (let at = 0; at < RECORDS; at++) {
        const account = await system.create('Accounts', { Name: `${at}${LONG}`, City: 'Acre' });
        await system.create('Contacts', { FirstName: 'Other', AccountId: pointer('Accounts', account) });
      }
    });
    after(() => system.close());

    it('a list shows the records without what is too long, and says so', async () => {
      for (const keys of ['Name,City', undefined]) {
        const query = { limit: 200, ...(keys && { keys }) };
        const { rows, leftOut }: Answer = await sales.call('GET /rows/Accounts', { query });
        assert.equal(rows.length, RECORDS + 1);
        assert.ok(rows.every(({ City }: Answer) => City !== undefined));
        assert.equal(rows.find(({ objectId }: Answer) => objectId === usual).Name, 'Usual');
        assert.equal(Object.keys(leftOut).length, RECORDS);
        assert.ok(Object.values(leftOut).every((names) => JSON.stringify(names) === '["Name"]'));
      }
    });

    it('is walked in the order of what is too long', async () => {
      const found = new Set<string>();
      for (let after: string | null = null; ; ) {
        const query: Record<string, string | number> = {
          keys: 'City',
          order: 'Name',
          limit: 10,
          ...(after !== null && { after }),
        };
        const { rows, last }: Answer = await sales.call('GET /rows/Accounts', { query });
        if (rows.length === 0) break;
        for (const { objectId } of rows) found.add(objectId);
        after = last;
      }
      assert.equal(found.size, RECORDS + 1);
    });

    it('lists of what points at them have the names that are not too long', async () => {
      const { rows, names }: Answer = await sales.call('GET /rows/Contacts', { query: { limit: 200 } });
      assert.equal(rows.length, RECORDS + 1);
      assert.equal(names.Accounts[usual], 'Usual');
    });

    it('a history of many such texts is returned, page by page', async () => {
      for (let at = 0; at < RECORDS; at++) await system.update('Accounts', usual, { Website: `${at}${LONG}` });
      let entryCount = 0;
      for (let before: string | null = null; ; ) {
        const query: Record<string, string | number> = { limit: 12, ...(before !== null && { before }) };
        const { entries, next }: Answer = await sales.call(`GET /history/Accounts/${usual}`, { query });
        entryCount += entries.length;
        if (next === null) break;
        before = next;
      }
      assert.equal(entryCount, RECORDS + 1);
    });

    it('a search finds the others', async () => {
      const chosen = await sales.call('GET /search', { query: { q: '', tables: 'Accounts', limit: 100 } });
      assert.ok(chosen.results.some(({ title }: Answer) => title === 'Usual'));
      const found = await sales.call('GET /search', { query: { q: 'x', limit: 100 } });
      assert.ok(Array.isArray(found.results));
    });
  });
