/** Reference: tools.md#get-reports, tools.md#run-report, tools.md#save-report. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { type Json, pointer, unique, useStore } from '../../../support/records.ts';
import { sampledEngines } from '../../../support/service.ts';
import { byKey, byUser } from '../callers.ts';

const open = { find: { '*': true }, get: { '*': true }, create: {}, update: {}, delete: {}, addField: {} };

for (const engine of sampledEngines())
  describe(`tools of reports on ${engine}`, () => {
    const store = useStore(engine);
    const { use, call, refused } = byKey(store);
    let table: string;
    let accounts: string[];

    before(async () => {
      accounts = [await store.create('Accounts', { Name: 'Dana' }), await store.create('Accounts', { Name: 'Omer' })];
      table = await store.table({
        Name: 'String',
        City: 'String',
        Total: 'Number',
        count: 'Number',
        Extra: 'Object',
        AccountId: { type: 'Pointer', targetClass: 'Accounts' },
      });
      const [dana = '', omer = ''] = accounts;
      const rows = [
        { Name: 'a', City: 'Haifa', Total: 10, count: 1, Extra: { a: { b: 1 }, c: 2 }, AccountId: pointer('Accounts', dana) },
        { Name: 'b', City: 'Haifa', Total: 20, count: 1, AccountId: pointer('Accounts', omer) },
        { Name: 'c', City: 'Eilat', Total: 5, count: 1, AccountId: pointer('Accounts', dana) },
        { Name: 'd', City: 'Eilat', Total: 7, count: 1 },
        { Name: 'e', Total: 100, count: 1 },
      ];
      for (const row of rows) await store.create(table, row);
    });

    const save = async (args: object): Promise<string> =>
      (await use('Save-Report', { name: unique('R'), table, ...args })).reportId;
    const names = ({ results }: Json) => results.map(({ Name }: Json) => Name).join('');

    test('a report is saved, listed, run and replaced', async () => {
      const name = unique('Cities (all) ');
      const where = { City: { $exists: true } };
      const saved = await use('Save-Report', { name, table, keys: ['Name', 'AccountId'], where, order: '-Total' });
      assert.deepEqual([saved.created, saved.reportId.length], [true, 10]);
      const row = await store.read('_DynamicQueries', saved.reportId);
      assert.deepEqual(
        [row.Name, row.table, row.keys, row.where, row.order],
        [name, table, ['Name', 'AccountId'], where, '-Total'],
      );
      const { results } = await use('Get-Reports', { search: name.toUpperCase() });
      assert.deepEqual(results.length, 1);
      assert.deepEqual([results[0].objectId, results[0].table, results[0].keys], [saved.reportId, table, ['Name', 'AccountId']]);

      const run = await use('Run-Report', { reportId: saved.reportId });
      assert.deepEqual([run.name, run.table, names(run)], [name, table, 'badc']);
      const [omer] = run.results;
      assert.deepEqual(Object.keys(omer).sort(), ['AccountId', 'Name', 'objectId']);
      assert.equal(omer.AccountId.Name, 'Omer');
      assert.equal(names(await use('Run-Report', { reportId: saved.reportId, where: { Total: { $lt: 10 } } })), 'dc');
      const page = await use('Run-Report', { reportId: saved.reportId, limit: 3 });
      assert.deepEqual([names(page), page.nextSkip], ['bad', 3]);
      assert.equal(names(await use('Run-Report', { reportId: saved.reportId, limit: 3, skip: 3 })), 'c');

      const again = await use('Save-Report', { reportId: saved.reportId, name: 'New', table });
      assert.deepEqual(again, { reportId: saved.reportId, replaced: true });
      const after = await store.read('_DynamicQueries', saved.reportId);
      assert.deepEqual([after.Name, after.keys, after.where, after.order, after.groupBy], ['New', [], undefined, undefined, []]);
      const whole = await use('Run-Report', { reportId: saved.reportId });
      assert.equal(names(whole), 'abcde');
      assert.deepEqual(Object.keys(whole.results[0]).sort(), [
        'AccountId',
        'City',
        'Extra',
        'Name',
        'Total',
        'count',
        'objectId',
      ]);
    });

    test('places inside Objects are columns too', async () => {
      const run = await use('Run-Report', { reportId: await save({ keys: ['Extra.a.b'], where: { Name: 'a' } }) });
      assert.deepEqual(run.results[0].Extra, { a: { b: 1 } });
    });

    test('groups have counts, sums and names', async () => {
      const keys = ['City', 'Total', 'count', 'Name'];
      const byCity = await use('Run-Report', { reportId: await save({ keys, groupBy: ['City'], order: 'City' }) });
      assert.deepEqual(byCity.results, [
        { group: { City: null }, count: 1, sums: { Total: 100, count: 1 } },
        { group: { City: 'Eilat' }, count: 2, sums: { Total: 12, count: 2 } },
        { group: { City: 'Haifa' }, count: 2, sums: { Total: 30, count: 2 } },
      ]);
      const bySum = await use('Run-Report', {
        reportId: await save({ keys: ['Total'], groupBy: ['City'], order: '-Total' }),
        limit: 2,
      });
      assert.deepEqual(
        bySum.results.map(({ group }: Json) => group.City),
        [null, 'Haifa'],
      );
      assert.equal(bySum.nextSkip, 2);
      const where = { AccountId: { $exists: true } };
      const byAccount = await use('Run-Report', { reportId: await save({ groupBy: ['AccountId'], where }) });
      assert.deepEqual(
        byAccount.results.map(({ group, count, sums }: Json) => [group.AccountId.Name, group.AccountId.objectId, count, sums]),
        [
          ['Dana', accounts[0], 2, undefined],
          ['Omer', accounts[1], 1, undefined],
        ],
      );
      const both = await use('Run-Report', {
        reportId: await save({ groupBy: ['City', 'AccountId'], where }),
        where: { City: 'Haifa' },
      });
      assert.equal(both.results.length, 2);
    });

    const wrong: [string, object, number, RegExp][] = [
      ['no table', { table: 'NoneSuch' }, 103, /Class NoneSuch does not exist/],
      ['a column', { keys: ['Name', 'Nme'] }, 107, /has no field Nme/],
      ['a group', { groupBy: ['Town'] }, 107, /has no field Town/],
      ['an order', { order: '-Sum' }, 107, /has no field Sum/],
      ['a constraint', { where: { $or: [{ Town: 'x' }, { Name: 'a' }] } }, 107, /has no field Town/],
      ['an operator', { where: { Name: { $like: 'x' } } }, 102, /./],
      ['a form', { keys: 'Name' }, 107, /keys must be of type array/],
      ['an argument', { columns: [] }, 107, /columns is unknown/],
    ];
    for (const [what, args, code, text] of wrong)
      test(`${what} that is not there is refused, and nothing is saved`, async () => {
        const count = (await store.all('_DynamicQueries')).length;
        await refused('Save-Report', { name: 'X', table, ...args }, code, text);
        assert.equal((await store.all('_DynamicQueries')).length, count);
      });

    test('a report that the table no longer fits says so', async () => {
      const gone = await store.table({ Name: 'String', Old: 'String' });
      const { reportId } = await use('Save-Report', { name: 'X', table: gone, keys: ['Name', 'Old'], where: { Old: 'x' } });
      await store.call('PUT', `/platform/schemas/${gone}`, { body: { fields: { Old: { __op: 'Delete' } } } });
      await refused('Run-Report', { reportId }, 107, new RegExp(`${gone} has no field Old`));
      await store.call('DELETE', `/platform/schemas/${gone}`);
      await refused('Run-Report', { reportId }, 103, new RegExp(gone));
      const empty = await store.create('_DynamicQueries', { Name: 'Y', keys: ['a'] });
      await refused('Run-Report', { reportId: empty }, 107, /names no table/);
      const odd = await store.create('_DynamicQueries', { Name: 'Z', table, keys: [1] });
      await refused('Run-Report', { reportId: odd }, 107, /keys are no list of names/);
      await refused('Run-Report', { reportId: 'nobodynobo' }, 101);
      await refused('Save-Report', { reportId: 'nobodynobo', name: 'X', table }, 101);
    });

    test('lists can be searched, narrowed to a table, and bounded', async () => {
      const only = await store.table({ Name: 'String' });
      for (const name of ['B.', 'A.', 'C']) await use('Save-Report', { name: `${only} ${name}`, table: only });
      const { results } = await use('Get-Reports', { table: only });
      assert.deepEqual(
        results.map(({ Name }: Json) => Name),
        [`${only} A.`, `${only} B.`, `${only} C`],
      );
      assert.equal((await use('Get-Reports', { search: `${only} .` })).results.length, 0, 'the search is no pattern');
      const cut = await use('Get-Reports', { table: only, limit: 2 });
      assert.deepEqual([cut.results.length, cut.truncated], [2, true]);
    });

    test('users run with their rights on the table; what they save is theirs', async () => {
      const sales = await byUser(store, ['Sales']);
      const reportId = await save({ keys: ['Name', 'Total'] });
      await sales.refused('Run-Report', { reportId }, 119, new RegExp(`^Permission denied for action find on class ${table}`));
      await sales.refused('Save-Report', { name: 'X', table }, 119, new RegExp(`find on class ${table}`));
      const rules = { ...open, protectedFields: { '*': ['Total'] } };
      await store.call('PUT', `/platform/schemas/${table}`, { body: { classLevelPermissions: rules } });
      const run = await sales.use('Run-Report', { reportId });
      assert.deepEqual([names(run), run.hidden], ['abcde', ['Total']]);
      // Names, ids and times may contain the digits by chance.
      const reported = JSON.stringify(run, (key, value) => (/^(?:name|table|objectId|\w+At)$/.test(key) ? undefined : value));
      assert.ok(reported.includes('abcde'[0] as string) && !reported.includes('100'), reported);
      await sales.refused('Run-Report', { reportId, where: { Total: 100 } }, 119, /not allowed to access Total/);
      const grouped = await save({ keys: ['Total'], groupBy: ['City'] });
      const groups = await sales.use('Run-Report', { reportId: grouped });
      assert.deepEqual([groups.results.length, groups.results[0].sums, groups.hidden], [3, undefined, ['Total']]);
      const mine = await sales.use('Save-Report', { name: 'Mine', table, keys: ['Name'] });
      const row = await store.read('_DynamicQueries', mine.reportId);
      assert.deepEqual([row.OwnerId, row.createdBy], [pointer('_User', sales.id), pointer('_User', sales.id)]);
      assert.equal((await sales.use('Get-Reports', { search: 'Mine' })).results[0].OwnerId.objectId, sales.id);

      const viewer = await byUser(store, ['ReadOnly'], ['mcp:view', 'mcp:create']);
      await viewer.refused('Save-Report', { name: 'X', table }, 119, /mcp:update is not given/);
      const reader = await byUser(store, ['ReadOnly']);
      await reader.refused('Save-Report', { name: 'X', table }, 119, /create on class _DynamicQueries/);
      assert.equal(names(await reader.use('Run-Report', { reportId: mine.reportId })), 'abcde');
      const nobody = await byUser(store, []);
      assert.match((await nobody.call('Get-Reports')).text, /^Permission denied for action find on class _DynamicQueries/);
      assert.ok(!(await call('Get-Reports')).isError);
    });
  });
