import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { readReport } from '../../../src/crm/reports/saved-report.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { sampledEngines } from '../../support/service.ts';
import { type Answer, type Caller, openSystem, type TestSystem } from './system.ts';

for (const engine of sampledEngines())
  describe(`views on ${engine}`, () => {
    let system: TestSystem;
    let sales: Caller;
    let other: Caller;
    let finance: Caller;
    before(async () => {
      system = await openSystem(engine);
      sales = await system.user('Sales');
      other = await system.user('Sales');
      finance = await system.user('Finance');
    });
    after(() => system.close());

    const content: JsonObject = {
      name: 'הלידים שלי <b>&"\u202e',
      where: { IsAccount: false, createdAt: { $gte: { $relativeTime: '7 days ago' } } },
      order: '-createdAt,Name',
      columns: [{ field: 'Name', width: 240, isPinned: true }, { field: 'City' }],
      sharedWith: [],
    };
    const save = (caller: Caller, more: JsonObject = {}): Promise<Answer> =>
      caller.call('POST /views/Accounts', { body: { ...content, ...more } });
    const listed = async (caller: Caller): Promise<string[]> =>
      (await caller.call('GET /views/Accounts')).views.map(({ objectId }: Answer) => objectId);

    it("one's own is seen by nobody else, and opens by its id alone", async () => {
      const saved = await save(sales);
      const { objectId, table, isMine, ...rest } = saved;
      assert.deepEqual(rest, content);
      assert.deepEqual([table, isMine], ['Accounts', true]);
      assert.deepEqual(await sales.call(`GET /view/${objectId}`), saved);
      assert.ok((await listed(sales)).includes(objectId));
      assert.ok(!(await listed(other)).includes(objectId));
      for (const address of ['GET', 'PUT', 'DELETE'].map((method) => `${method} /view/${objectId}`))
        assert.equal((await other.refused(address, { body: content })).code, 101, address);
    });

    it('those of a role see one that is shared with it, and do not change it', async () => {
      const { objectId } = await save(sales, { sharedWith: ['Sales'] });
      const seen = await other.call(`GET /view/${objectId}`);
      assert.deepEqual([seen.sharedWith, seen.isMine], [['Sales'], false]);
      assert.ok(!(await listed(finance)).includes(objectId));
      assert.equal((await other.refused(`PUT /view/${objectId}`, { body: content })).code, 101);
      const changed = await sales.call(`PUT /view/${objectId}`, {
        body: { ...content, name: 'All', sharedWith: ['*'], order: '' },
      });
      assert.deepEqual([changed.name, changed.sharedWith, changed.order], ['All', ['*'], '']);
      assert.ok((await listed(finance)).includes(objectId));
      assert.deepEqual(await sales.call(`DELETE /view/${objectId}`), {});
      assert.equal((await sales.refused(`GET /view/${objectId}`)).code, 101);
    });

    it('views are reports that tools run, and reports are views where they are of rows', async () => {
      const { objectId } = await save(sales);
      const report = await readReport(await sales.context(), objectId);
      assert.deepEqual([report.table, report.keys, report.groupBy], ['Accounts', ['Name', 'City'], []]);
      assert.deepEqual(report.where, content.where);
      const table = 'Accounts';
      const made = await system.create('_DynamicQueries', { Name: 'By hand', table, keys: ['Name'], where: { City: 'Lod' } });
      const groups = await system.create('_DynamicQueries', { Name: 'Groups', table, groupBy: ['City'] });
      const broken = await system.create('_DynamicQueries', { Name: 'Broken', table, where: { City: 'Lod' }, keys: [1] });
      const ids = await listed(finance);
      assert.deepEqual([ids.includes(made), ids.includes(groups), ids.includes(broken)], [true, false, false]);
      const view = await finance.call(`GET /view/${made}`);
      assert.deepEqual([view.columns, view.sharedWith, view.isMine], [[{ field: 'Name' }], ['*'], false]);
    });

    it('what is no view is refused', async () => {
      const reader = await system.user('ReadOnly');
      assert.equal((await reader.refused('POST /views/Accounts', { body: content })).code, 119);
      const { objectId } = await save(sales);
      const cases: [JsonObject, number][] = [
        [{ name: ' ' }, 107],
        [{ name: 'x'.repeat(201) }, 107],
        [{ name: 5 }, 107],
        [{ where: [] }, 107],
        [{ where: { NoSuch: 1 } }, 107],
        [{ where: { Name: { $regex: '(' } } }, 102],
        [{ order: 'NoSuch' }, 107],
        [{ columns: 'Name' }, 107],
        [{ columns: [{ field: 'NoSuch' }] }, 107],
        [{ columns: [{ field: 'Name' }, { field: 'Name' }] }, 107],
        [{ columns: [{ field: 'Name', width: -1 }] }, 107],
        [{ columns: [{ field: '__proto__' }] }, 107],
        [{ sharedWith: [''] }, 107],
        [{ more: 1 }, 107],
      ];
      for (const [more, code] of cases) {
        const body = { ...content, ...more };
        for (const address of ['POST /views/Accounts', `PUT /view/${objectId}`])
          assert.equal((await sales.refused(address, { body })).code, code, `${address} ${JSON.stringify(more)}`);
      }
    });
  });
