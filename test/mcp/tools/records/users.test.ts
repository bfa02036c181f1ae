/** Tools of records for signed-in users, within their roles and permissions. Reference: authentication.md#agents, agents.md#modes. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { forAll, setRules } from '../../../support/permissions.ts';
import { type Json, pointer, type Store, unique, useStore } from '../../../support/records.ts';
import { sampledEngines } from '../../../support/service.ts';
import { byUser, type Tools } from '../callers.ts';

type User = Tools & { id: string };

for (const engine of sampledEngines())
  describe(`records for users (${engine})`, () => {
    const store: Store = useStore(engine);
    /** Has a role that reads and writes `open`; ReadOnly only reads it; `closed` is for no role. */
    let sales: User;
    let reader: User;
    let stranger: User;
    let [open, closed] = ['', ''];
    let record = '';
    before(async () => {
      [sales, reader, stranger] = [await byUser(store, ['Sales']), await byUser(store, ['ReadOnly']), await byUser(store, [])];
      open = await store.table({
        Name: 'String',
        n: 'Number',
        salary: 'Number',
        OtherId: { type: 'Pointer', targetClass: 'Accounts' },
      });
      closed = await store.table({ Name: 'String', OpenId: { type: 'Pointer', targetClass: open } });
      const ofSales = { 'role:Sales': true as const };
      await setRules(store.service(), open, {
        ...forAll({ ...ofSales, 'role:ReadOnly': true }, ['find', 'get']),
        ...forAll(ofSales, ['create', 'update']),
        protectedFields: { '*': ['salary'], 'role:Sales': [] },
      });
      record = await store.create(open, { Name: 'seen', n: 1, salary: 5 });
      await store.create(open, { Name: 'unseen', n: 2, ACL: { nobody0000: { read: true } } });
      await store.create(closed, { Name: 'x', OpenId: pointer(open, record) });
    });

    test('who has the right succeeds, and the record names the writer', async () => {
      const made = await sales.use('Create-Record', { table: open, data: { Name: 'mine' } });
      const stored = await store.read(open, made.objectId);
      assert.deepEqual(stored.createdBy, pointer('_User', sales.id));
      await sales.use('Update-Record', { table: open, objectId: record, data: { n: { __op: 'Increment', amount: 1 } } });
      assert.deepEqual((await store.read(open, record)).updatedBy, pointer('_User', sales.id));
      const many = await sales.use('Create-Many', { table: open, data: [{ Name: 'a' }, { Name: 'b' }] });
      const updates = many.results.map(({ success }: Json) => ({ objectId: success.objectId, data: { n: 7 } }));
      assert.equal((await sales.use('Update-Many', { table: open, updates })).succeeded, 2);
      const upsert = () => sales.use('Upsert-Record', { table: open, matchOn: ['Name'], data: { Name: 'once' } });
      assert.deepEqual([(await upsert()).created, (await upsert()).created], [true, false]);
    });

    test('who has the permission but not the right of a role is refused, and nothing is written', async () => {
      const before = await store.snapshot(open);
      await reader.refused(
        'Create-Record',
        { table: open, data: { Name: 'x' } },
        119,
        /^Permission denied for action create on class/,
      );
      await reader.refused(
        'Update-Record',
        { table: open, objectId: record, data: { n: 9 } },
        119,
        /^Permission denied for action update/,
      );
      await reader.refused(
        'Upsert-Record',
        { table: open, matchOn: ['Name'], data: { Name: 'y' } },
        119,
        /^Permission denied for action create/,
      );
      for (const name of ['Create-Many', 'Update-Many']) {
        const list = name === 'Create-Many' ? { data: [{ n: 1 }] } : { updates: [{ objectId: record, data: { n: 1 } }] };
        const { failed, results } = await reader.use(name, { table: open, ...list });
        assert.deepEqual([failed, results[0].error.code], [1, 119]);
      }
      assert.equal(await store.snapshot(open), before);
    });

    test('a table that is closed to the user is refused as a whole', async () => {
      const find = /^Permission denied for action find on class/;
      for (const [name, args] of [
        ['Get-Data', {}],
        ['Count-Data', {}],
        ['Aggregate-Data', { groupBy: ['Nope'] }],
        ['Upsert-Record', { matchOn: ['Nope'], data: {} }],
      ] as const)
        await sales.refused(name, { table: closed, ...args }, 119, find);
      await sales.refused('Get-Record', { table: closed, objectId: record }, 119, /^Permission denied for action get/);
      await sales.refused('Get-Related-Records', { table: closed, objectId: record }, 119, /^Permission denied for action get/);
      await sales.refused('Validate-Records', { table: closed, data: [{}] }, 119, /^Permission denied for action create/);
      await sales.refused('Get-Lookup-Values', { tables: [closed] }, 119, find);
      await sales.refused('Get-Schema', { className: closed }, 103, /does not exist/);
      await stranger.refused('Get-Data', { table: open }, 119, find);
    });

    test('a user creates neither tables nor fields that no role gives', async () => {
      await sales.refused('Create-Record', { table: unique('New'), data: {} }, 119, /^Permission denied for action create/);
      await sales.refused('Create-Record', { table: open, data: { extra: 1 } }, 119, /^Permission denied for action addField/);
      assert.equal((await store.fields(open)).extra, undefined);
    });

    test('records that the user may not see are neither counted nor shown', async () => {
      assert.deepEqual((await reader.use('Count-Data', { table: open, where: { Name: 'unseen' } })).count, 0);
      const { results } = await reader.use('Get-Data', { table: open, where: { Name: { $in: ['seen', 'unseen'] } } });
      assert.deepEqual(
        results.map((row: Json) => row.Name),
        ['seen'],
      );
      const groups = await reader.use('Aggregate-Data', { table: open, groupBy: ['Name'] });
      assert.ok(!groups.results.some((row: Json) => row.Name === 'unseen'));
      const values = await reader.use('Get-Lookup-Values', { tables: [open], search: 'seen' });
      assert.equal(values.results[0].values.length, 1);
      const stats = await reader.use('Get-Table-Stats', { tables: [open] });
      assert.equal(stats.results[0].rows, (await reader.use('Count-Data', { table: open })).count);
    });

    test('fields that are hidden from the user are in no answer', async () => {
      const schema = await reader.use('Get-Schema', { className: open });
      assert.ok(!('salary' in schema.fields) && 'salary' in (await sales.use('Get-Schema', { className: open })).fields);
      assert.equal((await reader.use('Get-Record', { table: open, objectId: record })).salary, undefined);
      assert.equal((await sales.use('Get-Record', { table: open, objectId: record })).salary, 5);
      const stats = await reader.use('Get-Table-Stats', { tables: [open] });
      assert.ok(!('salary' in stats.results[0].fields));
      const metrics = [{ op: 'sum', field: 'salary' }];
      await reader.refused('Aggregate-Data', { table: open, metrics }, 119, /^This user is not allowed to access salary/);
      await reader.refused('Get-Data', { table: open, where: { salary: 5 } }, 119, /^This user is not allowed to access salary/);
    });

    test('parts of an answer that the user may not see are left out and reported', async () => {
      const answer = await sales.use('Get-Related-Records', { table: open, objectId: record });
      // The user may not know that the table exists.
      assert.deepEqual([answer.results, answer.hidden], [[], undefined]);
      const values = await sales.use('Get-Lookup-Values', { tables: [closed, 'LeadStatuses'] });
      assert.deepEqual([values.results.length, values.hidden], [1, [closed]]);
      const names = (await sales.use('Get-Schema', { tablesNameOnly: true })).results;
      assert.ok(names.includes(open) && !names.includes(closed) && !names.includes('_RequestLog'));
    });

    test('Get-Table-Stats: tables that the user may not see are reported beside others, and refused alone', async () => {
      await sales.refused('Get-Table-Stats', { tables: [closed] }, 119, /^Permission denied for action find on class/);
      const stats = await sales.use('Get-Table-Stats', { tables: [closed, 'Accounts'] });
      assert.deepEqual([stats.results[0].table, stats.hidden], ['Accounts', [closed]]);
    });

    test('Validate-Records: by the rights of the user, and silent about what the user may not see', async () => {
      const own = await sales.use('Validate-Records', { table: open, data: [{ n: 'x' }, { extra: 1 }, { n: 1 }] });
      assert.deepEqual(
        own.results.map(({ index, faults }: Json) => [index, faults[0].code]),
        [
          [0, 111],
          [1, 119],
        ],
      );
      assert.deepEqual([own.adds, own.refused], [undefined, undefined]);
      const others = await reader.use('Validate-Records', { table: open, data: [{ n: 'x', salary: 1 }] });
      assert.match(others.refused, /^Permission denied for action create/);
      assert.deepEqual(
        others.results[0].faults.map(({ field, code }: Json) => [field, code]),
        [
          ['n', 111],
          ['salary', 119],
        ],
      );
      const hidden = await reader.use('Validate-Records', { table: open, data: [{ Salary: 1, name: 'x' }] });
      assert.deepEqual(
        hidden.results[0].faults.map(({ expected }: Json) => expected),
        ['There is no field Salary', 'There is no field name; is Name meant?'],
      );
      const pointing = await store.table({
        ClosedId: { type: 'Pointer', targetClass: closed },
        OpenId: { type: 'Pointer', targetClass: open },
      });
      await setRules(store.service(), pointing, forAll({ 'role:Sales': true }));
      const unseen = (await store.all(open)).find((row) => row.Name === 'unseen');
      const data = [
        { ClosedId: pointer(closed, 'nothing000') },
        { OpenId: pointer(open, unseen.objectId) },
        { OpenId: pointer(open, record) },
      ];
      const looked = await sales.use('Validate-Records', { table: pointing, data });
      assert.deepEqual([looked.hidden, looked.results.map((one: Json) => one.index)], [[closed], [1]]);
    });
  });
