/** Reference: tools.md#get-timeline, audit.md#timeline. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { creates } from '../../../automation/effects.ts';
import { date, type Json, pointer, unique, useStore } from '../../../support/records.ts';
import { sampledEngines } from '../../../support/service.ts';
import { soon } from '../../../support/soon.ts';
import { byKey, byUser, type Person } from '../callers.ts';

for (const engine of sampledEngines())
  describe(`Get-Timeline on ${engine}`, () => {
    const store = useStore(engine);
    const tools = byKey(store);
    const history = async (objectId: string, more: object = {}): Promise<Json> =>
      tools.use('Get-Timeline', { table: 'Accounts', objectId, ...more });
    const key = { objectId: 'master' };
    let sales: Person | undefined;
    const seller = async () => (sales ??= await byUser(store, ['Sales']));

    test('newest first: who, when, from and to; a form that sends all shows what it changed', async () => {
      const { results } = (await store.call('GET', '/platform/classes/LeadStatuses')).body;
      const [first, second] = results.map(({ objectId }: Json) => pointer('LeadStatuses', objectId));
      const id = await store.create('Accounts', { Name: 'Acme', City: 'Haifa', LeadStatusId: first });
      await store.update('Accounts', id, { Name: 'Acme', City: 'Jaffa', LeadStatusId: second });
      await store.update('Accounts', id, { Name: 'Acme', City: 'Jaffa' });
      await store.update('Accounts', id, { Name: { __op: 'Delete' }, FirstCall: date('2026-01-01T00:00:00.000Z') });
      const rows = (
        await store.call('GET', '/platform/classes/_Timeline', { query: { where: { objectIdValue: id }, order: '-createdAt' } })
      ).body.results;
      const answer = await history(id);
      assert.equal(answer.nextSkip, undefined);
      assert.deepEqual(
        answer.results.map(({ at, ...rest }: Json) => rest),
        [
          {
            event: 'update',
            user: key,
            changes: { Name: { from: 'Acme', to: null }, FirstCall: { from: null, to: date('2026-01-01T00:00:00.000Z') } },
          },
          {
            event: 'update',
            user: key,
            changes: {
              City: { from: 'Haifa', to: 'Jaffa' },
              LeadStatusId: { from: { ...first, Name: results[0].Name }, to: { ...second, Name: results[1].Name } },
            },
          },
          {
            event: 'create',
            user: key,
            changes: { Name: { to: 'Acme' }, City: { to: 'Haifa' }, LeadStatusId: { to: { ...first, Name: results[0].Name } } },
          },
        ],
      );
      assert.deepEqual(
        answer.results.map(({ at }: Json) => at),
        [0, 2, 3].map((at) => rows[at].createdAt),
      );
    });

    test('an operator is a change, not a value that the field had', async () => {
      const label = await store.create('Accounts', { Name: 'Friend' });
      const table = await store.table({ N: 'Number', List: 'Array', Of: { type: 'Relation', targetClass: 'Accounts' } });
      const timeline = { displayFields: {}, index: {} };
      assert.equal((await store.call('PUT', `/platform/schemas/${table}`, { body: { timeline } })).status, 200);
      const id = await store.create(table, { N: 1, List: { __op: 'Add', objects: ['z'] } });
      const friend = pointer('Accounts', label);
      const writes = [
        { N: { __op: 'Increment', amount: 2 } },
        { N: 9, List: { __op: 'AddUnique', objects: ['a', friend] } },
        { List: { __op: 'Remove', objects: ['a'] }, Of: { __op: 'AddRelation', objects: [friend] } },
        { Of: { __op: 'Batch', ops: [{ __op: 'RemoveRelation', objects: [friend] }] }, N: { __op: 'Delete' } },
      ];
      for (const body of writes) await store.update(table, id, body);
      const { results } = await tools.use('Get-Timeline', { table, objectId: id });
      const [removed, unlisted, listed, added, made] = results.map(({ changes }: Json) => changes);
      const named = { ...friend, Name: 'Friend' };
      assert.deepEqual(removed, { Of: { change: { RemoveRelation: [named] } }, N: { from: 9, to: null } });
      assert.deepEqual(unlisted, { List: { change: { Remove: ['a'] } }, Of: { change: { AddRelation: [named] } } });
      // The result of an operator is not recorded, so the next change has no known previous value.
      assert.deepEqual(listed, { N: { to: 9 }, List: { from: ['z'], change: { AddUnique: ['a', named] } } });
      assert.deepEqual(added, { N: { from: 1, change: { Increment: 2 } } });
      assert.deepEqual(made, { N: { to: 1 }, List: { to: ['z'] } });
    });

    test('pages and fields', async () => {
      const id = await store.create('Accounts', { Name: '0', City: 'a' });
      for (let n = 1; n < 6; n++) await store.update('Accounts', id, { Name: String(n), ...(n === 3 && { City: 'b' }) });
      const shown: Json[] = [];
      for (let skip: number | undefined = 0; skip !== undefined; ) {
        const page: Json = await history(id, { limit: 4, skip });
        shown.push(...page.results);
        skip = page.nextSkip;
      }
      assert.deepEqual(
        shown.map(({ changes }) => changes.Name.to),
        ['5', '4', '3', '2', '1', '0'],
      );
      const ofCity = await history(id, { fields: ['City'] });
      assert.deepEqual(
        ofCity.results.map(({ changes }: Json) => changes),
        [{ City: { from: 'a', to: 'b' } }, { City: { to: 'a' } }],
      );
      assert.deepEqual((await history(id, { limit: 0 })).results, []);
      assert.deepEqual((await history(id, { skip: 100 })).results, []);
    });

    test('what was long ago is found, and long values are cut', async () => {
      const id = await store.create('Accounts', { Name: 'long ago', City: 'x'.repeat(5_000) });
      const requests = Array.from({ length: 450 }, (_, n) => ({
        method: 'PUT',
        path: `/platform/classes/Accounts/${id}`,
        body: { CompanyId: String(n) },
      }));
      await store.call('POST', '/platform/batch', { body: { requests } });
      await store.update('Accounts', id, { Name: 'now', City: '' });
      const [newest] = (await history(id, { limit: 1 })).results;
      assert.deepEqual(newest.changes.Name, { from: 'long ago', to: 'now' });
      assert.match(newest.changes.City.from, /^x{1000}… \(5000 characters\)$/);
    });

    test('deleted records have a past; ids that never were have none', async () => {
      const id = await store.create('Accounts', { Name: 'gone' });
      await store.remove('Accounts', id);
      const { results } = await history(id);
      assert.deepEqual(
        results.map(({ event, changes }: Json) => [event, changes]),
        [
          ['delete', undefined],
          ['create', { Name: { to: 'gone' } }],
        ],
      );
      await tools.refused('Get-Timeline', { table: 'Accounts', objectId: 'nobodynone' }, 101, /^Object not found\./);
      await tools.refused('Get-Timeline', { table: 'accounts', objectId: id }, 103, /Get-Schema/);
      await tools.refused('Get-Timeline', { table: '_StoredFile', objectId: id }, 103);
      await tools.refused('Get-Timeline', { table: 'Accounts' }, 107, /objectId is required/);
      await tools.refused('Get-Timeline', { table: 'Accounts', objectId: id, limit: 2001 }, 107, /at most 2000/);
      const table = await store.table({ Name: 'String' });
      const quiet = await store.create(table, { Name: 'a' });
      assert.match((await tools.use('Get-Timeline', { table, objectId: quiet })).hint, /is off/);
    });

    test('a function and a trigger are named', async () => {
      const { appId, url } = store.service();
      const form = { method: 'POST', body: JSON.stringify({ Name: 'Lead', PhoneNumber: unique('') }) };
      const { result } = (await (await fetch(`${url}/functions/${appId}/getlead`, form)).json()) as Json;
      const [row] = (await history(result.leadId)).results;
      assert.equal(row.referer, 'server-side-code:getlead');

      const table = await store.table({ Name: 'String' });
      const actions = [creates('Accounts', { Name: '{{Name}}' })];
      const trigger = await store.create('_Trigger', { Name: 'copies', table, events: ['create'], actions });
      const name = unique('copied ');
      await store.create(table, { Name: name });
      const copies = async (): Promise<Json[]> => {
        const answer = await store.call('GET', '/platform/classes/Accounts', { query: { where: { Name: name } } });
        return answer.body.results;
      };
      await soon(async () => assert.equal((await copies()).length, 1));
      const [made] = (await history((await copies())[0].objectId)).results;
      assert.deepEqual([made.trigger, made.changes], [trigger, { Name: { to: name } }]);
    });

    test('a signed-in user sees the past of visible records, without hidden fields', async () => {
      const { use, call, id: userId, refused } = await seller();
      const mine = await store.create('Accounts', { Name: 'mine', CompanyId: '1' });
      await use('Update-Record', { table: 'Accounts', objectId: mine, data: { Name: 'changed' } });
      const [newest] = (await use('Get-Timeline', { table: 'Accounts', objectId: mine })).results;
      assert.deepEqual([newest.user.objectId, newest.changes], [userId, { Name: { from: 'mine', to: 'changed' } }]);
      const closed = await store.create('Accounts', { Name: 'closed', ACL: { [userId]: { write: true } } });
      assert.equal((await call('Get-Timeline', { table: 'Accounts', objectId: closed })).json.code, 101);
      await store.remove('Accounts', closed);
      assert.equal((await call('Get-Timeline', { table: 'Accounts', objectId: closed })).json.code, 101);
      await store.remove('Accounts', mine);
      assert.equal((await use('Get-Timeline', { table: 'Accounts', objectId: mine })).results.length, 3);

      const table = await store.table({ Name: 'String', Salary: 'Number' });
      const everybody = { requiresAuthentication: true };
      const classLevelPermissions = { find: everybody, get: everybody, protectedFields: { '*': ['Salary'] } };
      await store.call('PUT', `/platform/schemas/${table}`, {
        body: { classLevelPermissions, timeline: { displayFields: {}, index: {} } },
      });
      const paid = await store.create(table, { Name: 'a', Salary: 1 });
      await store.update(table, paid, { Salary: 2 });
      await store.update(table, paid, { Name: 'b', Salary: 3 });
      const { results } = await use('Get-Timeline', { table, objectId: paid });
      assert.deepEqual(
        results.map(({ changes }: Json) => changes),
        [{ Name: { from: 'a', to: 'b' } }, { Name: { to: 'a' } }],
      );
      await refused('Get-Timeline', { table, objectId: paid, fields: ['Salary'] }, 119, /not allowed to access Salary/);
      const trigger = await store.create('Config', { Name: unique('flag'), Value: {} });
      await refused(
        'Get-Timeline',
        { table: 'Config', objectId: trigger },
        119,
        /Permission denied for action get on class Config/,
      );
    });
  });
