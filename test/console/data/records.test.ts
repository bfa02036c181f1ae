import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ConflictError } from '../../../src/console/data/index.ts';
import { idOfKey } from '../../../src/console/data/records/idempotency.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { createAtomically } from '../../../src/records/index.ts';
import { pointer } from '../../support/records.ts';
import { sampledEngines } from '../../support/service.ts';
import { type Answer, type Caller, openSystem, type TestSystem } from './system.ts';

for (const engine of sampledEngines())
  describe(`records on ${engine}`, () => {
    let system: TestSystem;
    let sales: Caller;
    let other: Caller;
    let reader: Caller;
    before(async () => {
      system = await openSystem(engine);
      sales = await system.user('Sales');
      other = await system.user('Sales');
      reader = await system.user('ReadOnly');
    });
    after(() => system.close());

    let made = 0;
    const post = (caller: Caller, fields: JsonObject, requestId = `request ${++made}`, table = 'Accounts'): Promise<Answer> =>
      caller.call(`POST /records/${table}`, { body: { requestId, fields } });
    const put = (caller: Caller, id: string, changes: JsonObject, base: JsonObject): Promise<Answer> =>
      caller.call(`PUT /records/Accounts/${id}`, { body: { changes, base } });
    const conflict = async (caller: Caller, id: string, changes: JsonObject, base: JsonObject) => {
      const error = await caller.refused(`PUT /records/Accounts/${id}`, { body: { changes, base } });
      assert.ok(error instanceof ConflictError, error.message);
      return error;
    };

    it('one record: its fields, the names of what it points at, what the caller may do', async () => {
      const owner = pointer('_User', sales.id);
      const { record } = await post(sales, { Name: 'One Ltd', OwnerId: owner });
      const seen = await reader.call(`GET /records/Accounts/${record.objectId}`);
      assert.equal(seen.record.Name, 'One Ltd');
      assert.match(seen.names._User[sales.id], /^Name of/);
      assert.deepEqual(seen.may, { update: false, delete: false });
      assert.deepEqual((await sales.call(`GET /records/Accounts/${record.objectId}`)).may, { update: true, delete: true });
      assert.equal(record.createdBy.objectId, sales.id);
    });

    it('`may` follows the ACL of the very record', async () => {
      const ACL = { [sales.id]: { read: true, write: true }, [other.id]: { read: true }, 'role:ReadOnly': { read: true } };
      const { record, may } = await post(sales, { Name: 'Closed', ACL });
      assert.deepEqual(may, { update: true, delete: true });
      assert.deepEqual((await other.call(`GET /records/Accounts/${record.objectId}`)).may, { update: false, delete: false });
      const third = await system.user('Sales');
      assert.equal((await third.refused(`GET /records/Accounts/${record.objectId}`)).code, 101);
      assert.equal((await third.refused(`DELETE /records/Accounts/${record.objectId}`)).code, 101);
    });

    it('a request that is sent again, at the same time too, makes one record', async () => {
      const answers = await Promise.all([1, 2, 3].map(() => post(sales, { Name: 'Once' }, 'same')));
      answers.push(await post(sales, { Name: 'Once' }, 'same'));
      assert.equal(new Set(answers.map(({ record }) => record.objectId)).size, 1);
      assert.notEqual((await post(other, { Name: 'Once' }, 'same')).record.objectId, answers[0].record.objectId);
      const { count } = await sales.call('GET /count/Accounts', { query: { where: { Name: 'Once' } } });
      assert.equal(count, 2);
    });

    it('what another process made for a request is not made again', async () => {
      const idFor = (requestId: string) => idOfKey(JSON.stringify(['app', sales.id, 'Accounts', requestId]));
      const make = async (caller: Caller, objectId: string) =>
        createAtomically(await caller.context(), [{ className: 'Accounts', body: { Name: 'Elsewhere' }, objectId }]);
      await make(sales, idFor('elsewhere'));
      const { record } = await post(sales, { Name: 'Here' }, 'elsewhere');
      assert.deepEqual([record.objectId, record.Name], [idFor('elsewhere'), 'Elsewhere']);
      await make(other, idFor('of another'));
      const body = { requestId: 'of another', fields: { Name: 'Here' } };
      assert.equal((await sales.refused('POST /records/Accounts', { body })).code, 137);
      assert.equal((await post(sales, { Name: 'Here' }, 'unheard')).record.objectId, idFor('unheard'));
    });

    it('a request that was refused may be sent again', async () => {
      const refused = await sales.refused('POST /records/Accounts', { body: { requestId: 'again', fields: { Name: ['x'] } } });
      assert.equal(refused.code, 111);
      assert.equal((await post(sales, { Name: 'Five' }, 'again')).record.Name, 'Five');
    });

    it('fields are changed that still hold what the user saw; null empties', async () => {
      const { record } = await post(sales, { Name: 'A', City: 'Haifa', Email: 'a@example.com' });
      await put(other, record.objectId, { City: 'Eilat' }, { City: 'Haifa' });
      const { record: after } = await put(
        sales,
        record.objectId,
        { Name: 'B', Email: null },
        { Name: 'A', Email: 'a@example.com' },
      );
      assert.deepEqual([after.Name, after.City, after.Email], ['B', 'Eilat', undefined]);
      assert.equal(after.updatedBy.objectId, sales.id);
    });

    it('a field that somebody changed meanwhile is a conflict, with the record as it is and who it was', async () => {
      const { record } = await post(sales, { Name: 'A', City: 'Haifa' });
      await put(other, record.objectId, { City: 'Eilat' }, { City: 'Haifa' });
      const error = await conflict(sales, record.objectId, { City: 'Lod', Name: 'C' }, { City: 'Haifa', Name: 'A' });
      assert.deepEqual([error.status, error.conflict.fields], [409, ['City']]);
      assert.equal(error.conflict.record.City, 'Eilat');
      assert.match(String(error.conflict.by), /^Name of/);
      assert.equal(error.conflict.at, error.conflict.record.updatedAt);
      assert.equal((await sales.call(`GET /records/Accounts/${record.objectId}`)).record.Name, 'A');
      const { record: mine } = await put(sales, record.objectId, { City: 'Lod' }, { City: 'Eilat' });
      assert.equal(mine.City, 'Lod');
    });

    it('what stands there already is no conflict: the answer of a change may have been lost', async () => {
      const { record } = await post(sales, { Name: 'A' });
      await put(sales, record.objectId, { Name: 'B' }, { Name: 'A' });
      const before = await sales.call(`GET /records/Accounts/${record.objectId}`);
      const again = await put(sales, record.objectId, { Name: 'B' }, { Name: 'A' });
      assert.equal(again.record.updatedAt, before.record.updatedAt);
    });

    it('of changes at the same time in one field one counts; in several all do', async () => {
      const { record } = await post(sales, { Name: 'A', City: 'x' });
      const cities = ['1', '2', '3', '4'].map((City) => put(sales, record.objectId, { City }, { City: 'x' }));
      const results = await Promise.allSettled(cities);
      assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
      await Promise.all([
        put(sales, record.objectId, { Name: 'B' }, { Name: 'A' }),
        put(other, record.objectId, { Email: 'b@example.com' }, { Email: null }),
        put(other, record.objectId, { Address: 'c' }, { Address: null }),
      ]);
      const { record: now } = await sales.call(`GET /records/Accounts/${record.objectId}`);
      assert.deepEqual([now.Name, now.Email, now.Address], ['B', 'b@example.com', 'c']);
    });

    it('who may not write is refused, and nobody makes fields or tables', async () => {
      const { record } = await post(sales, { Name: 'A' });
      const admin = await system.user('Admin');
      const refusals: [Caller, string, JsonObject, number][] = [
        [reader, 'POST /records/Accounts', { requestId: 'r', fields: { Name: 'x' } }, 119],
        [reader, `PUT /records/Accounts/${record.objectId}`, { changes: { Name: 'x' }, base: { Name: 'A' } }, 119],
        [reader, `DELETE /records/Accounts/${record.objectId}`, {}, 119],
        [admin, 'POST /records/Accounts', { requestId: 'r', fields: { NewField: 'x' } }, 107],
        [admin, 'POST /records/NoSuchTable', { requestId: 'r', fields: {} }, 119],
        [admin, 'POST /records/_StoredFile', { requestId: 'r', fields: {} }, 119],
        [admin, 'POST /records/_User', { requestId: 'r', fields: { username: 'x', password: 'Right1Pass' } }, 119],
        [admin, `PUT /records/Accounts/${record.objectId}`, { changes: { Strange: 1 }, base: { Strange: null } }, 107],
        [admin, `PUT /records/Accounts/${record.objectId}`, { changes: { Name: 'x' }, base: {} }, 107],
        [admin, `PUT /records/Accounts/${record.objectId}`, { changes: { Name: { __op: 'Delete' } }, base: { Name: 'A' } }, 107],
        [admin, 'PUT /records/Accounts/nosuchid00', { changes: { Name: 'x' }, base: { Name: 'A' } }, 101],
        [admin, 'POST /records/Accounts', { requestId: '', fields: {} }, 107],
        [admin, 'POST /records/Accounts', { requestId: 'r' }, 107],
        [admin, 'POST /records/Accounts', { requestId: 'r', fields: {}, more: 1 }, 107],
      ];
      for (const [caller, address, body, code] of refusals)
        assert.equal((await caller.refused(address, { body })).code, code, `${address} ${JSON.stringify(body)}`);
    });

    it('fields of the service are passed over', async () => {
      const { record } = await post(sales, { Name: 'A', createdAt: '2020-01-01T00:00:00.000Z', objectId: 'mine' });
      assert.notEqual(record.objectId, 'mine');
      const { record: after } = await put(sales, record.objectId, { createdBy: null }, { createdBy: null });
      assert.equal(after.createdBy.objectId, sales.id);
    });

    it('a record that others point at is not deleted', async () => {
      const { record } = await post(sales, { Name: 'A' });
      const contact = await post(
        sales,
        { FirstName: 'B', AccountId: pointer('Accounts', record.objectId) },
        'contact',
        'Contacts',
      );
      assert.equal((await sales.refused(`DELETE /records/Accounts/${record.objectId}`)).code, 119);
      assert.deepEqual(await sales.call(`DELETE /records/Contacts/${contact.record.objectId}`), {});
      assert.deepEqual(await sales.call(`DELETE /records/Accounts/${record.objectId}`), {});
      assert.equal((await sales.refused(`GET /records/Accounts/${record.objectId}`)).code, 101);
    });
  });
