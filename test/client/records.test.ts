/** The client's calls for records against a running service (client.md). */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { date, pointer } from '../../client/src/index.ts';
import { unique, useStore } from '../support/records.ts';
import { sampledEngines } from '../support/service.ts';
import { clientOf, refused } from './world.ts';

for (const engine of sampledEngines())
  describe(`records through the client, ${engine}`, () => {
    const store = useStore(engine);
    let crm: ReturnType<typeof clientOf>;
    let [accounts, tasks] = ['', ''];
    before(async () => {
      crm = clientOf(store.service());
      accounts = await store.table({ Name: 'String', City: 'String', Total: 'Number', Birthday: 'Date' });
      tasks = await store.table({ Name: 'String', AccountId: { type: 'Pointer', targetClass: accounts } });
    });
    const of = (name: string) => crm.table(name);

    test('a record is created, read, changed and deleted', async () => {
      const { objectId, createdAt } = await of(accounts).create({ Name: 'דנה', Birthday: new Date('1990-01-31') });
      const record = await of(accounts).get(objectId);
      assert.deepEqual([record.Name, record.createdAt, record.Birthday], ['דנה', createdAt, date('1990-01-31')]);
      const updated = await of(accounts).update(objectId, { Total: { __op: 'Increment', amount: 2 }, City: undefined });
      assert.deepEqual([updated.objectId, updated.Total], [objectId, 2]);
      assert.equal(await of(accounts).delete(objectId), undefined);
      await refused(of(accounts).get(objectId), { status: 404, code: 101, message: 'Object not found.' });
    });

    test('queries: conditions with any characters, order, pages, counts, fields and includes', async () => {
      const City = `${unique('עיר')} + & # % "`;
      const made = await crm.batch((items) =>
        [3, 1, 2].map((Total) => items.table(accounts).create({ Name: `n${Total}`, City, Total })),
      );
      const first = made[0]?.success?.objectId ?? '';
      const found = await of(accounts).find({
        where: { City },
        order: ['-Total'],
        limit: 2,
        skip: 1,
        count: true,
        keys: ['Name'],
      });
      assert.deepEqual([found.results.map(({ Name }) => Name), found.count], [['n2', 'n1'], 3]);
      assert.deepEqual(Object.keys(found.results[0] ?? {}).sort(), ['ACL', 'Name', 'createdAt', 'objectId', 'updatedAt']);
      assert.equal(await of(accounts).count({ City, Total: { $gt: 1 } }), 2);
      assert.equal(await of(accounts).count({ City, createdAt: { $gt: new Date(0) } }), 3, 'dates are sent as dates');
      const { objectId } = await of(tasks).create({ Name: 'call', AccountId: pointer(accounts, first) });
      assert.equal((await of(tasks).get(objectId)).AccountId.__type, 'Pointer');
      assert.equal((await of(tasks).get(objectId, { include: ['AccountId'] })).AccountId.Name, 'n3');
      const { results } = await of(tasks).find({ where: { AccountId: pointer(accounts, first) }, include: ['AccountId'] });
      assert.deepEqual([results.length, results[0]?.AccountId.City], [1, City]);
    });

    test('a where too long for an address travels in a body', async () => {
      const Name = unique('long');
      await of(accounts).create({ Name });
      const where = { Name: { $in: [Name, ...Array.from({ length: 2_000 }, (_, at) => `some other name ${at}`)] } };
      assert.equal(await of(accounts).count(where), 1);
      const { results, count } = await of(accounts).find({ where, order: 'Name', keys: ['Name', 'City'], count: true });
      assert.deepEqual([results.map((record) => record.Name), count], [[Name], 1]);
      const rows = await of(accounts).aggregate([{ $match: where }, { $count: 'n' }]);
      assert.deepEqual(rows, [{ n: 1 }]);
    });

    test('ifMatch takes what the service gave: a record, the answer of a write, updatedAt, an ETag', async () => {
      const made = await of(accounts).create({ Name: 'one' });
      const { objectId } = made;
      const first = await of(accounts).update(objectId, { Name: 'two' }, { ifMatch: made });
      const second = await of(accounts).update(objectId, { Name: 'three' }, { ifMatch: first });
      const third = await of(accounts).update(objectId, { Name: 'four' }, { ifMatch: second.updatedAt });
      const read = await store.get(accounts, objectId);
      const fourth = await of(accounts).update(objectId, { Name: 'five' }, { ifMatch: read.headers.get('etag') ?? '' });
      const { results } = await of(accounts).find({ where: { objectId } });
      assert.equal(results[0]?.updatedAt, fourth.updatedAt);
      for (const old of [made, first, second, third.updatedAt, '"no-version"', 'W/"x"']) {
        const error = await refused(of(accounts).update(objectId, { Name: 'late' }, { ifMatch: old }), {
          status: 412,
          code: 409,
        });
        assert.equal(error.details.updatedAt, fourth.updatedAt);
        await refused(of(accounts).delete(objectId, { ifMatch: old }), { status: 412, code: 409 });
      }
      assert.equal((await of(accounts).get(objectId)).Name, 'five');
      const outcomes = await crm.batch((items) => [items.table(accounts).update(objectId, { Name: 'late' }, { ifMatch: made })]);
      assert.deepEqual([outcomes[0].error?.code, outcomes[0].error?.message], [409, 'The record has changed meanwhile.']);
      await of(accounts).delete(objectId, { ifMatch: results[0] ?? '' });
      await refused(of(accounts).get(objectId), { status: 404, code: 101 });
      await assert.rejects(of(accounts).update(objectId, {}, { ifMatch: {} }), TypeError);
    });

    test('a batch has an outcome for each item; a transaction has all or none', async () => {
      const Name = unique('batch');
      const made = await crm.batch((items) => [
        items.table(accounts).create({ Name }),
        items.table(accounts).update('nobody', { Name }),
      ]);
      assert.match(made[0].success?.objectId ?? '', /^\w{10}$/);
      assert.deepEqual([made[1].success, made[1].error?.code, made[1].error?.status], [undefined, 101, 200]);
      const done = await crm.transaction((items) => [
        items.table(accounts).create({ Name }),
        items.table(accounts).update(made[0].success?.objectId ?? '', { Total: { __op: 'Increment', amount: 1 } }),
        items.table(accounts).delete(made[0].success?.objectId ?? ''),
      ]);
      assert.deepEqual([done[1].Total, done[2]], [1, {}]);
      const wrong = crm.transaction((items) => [
        items.table(accounts).create({ Name }),
        items.table(accounts).create({ Total: 'much' }),
      ]);
      const error = await refused(wrong, { status: 400, code: 111 });
      assert.equal(error.details.index, 1);
      assert.equal(await of(accounts).count({ Name }), 1);
      const raw = await crm.batch([{ method: 'DELETE', path: `/platform/classes/${accounts}/${done[0].objectId}` }]);
      assert.deepEqual(raw, [{ success: {} }]);
    });

    test('aggregation answers rows', async () => {
      const City = unique('City');
      await crm.transaction((items) => [1, 2].map((Total) => items.table(accounts).create({ City, Total })));
      const pipeline = [{ $group: { _id: '$City', total: { $sum: '$Total' } } }];
      assert.deepEqual(await of(accounts).aggregate(pipeline, { where: { City } }), [{ objectId: City, total: 3 }]);
      assert.deepEqual(await of(accounts).aggregate({ where: { City }, count: 'n' }), [{ n: 2 }]);
    });

    test('upsert creates or updates by a unique index; each record has its outcome', async () => {
      const table = await store.table({ Key: 'String', City: 'String', Total: 'Number' });
      await crm.as({ masterKey: store.service().masterKey }).request('PUT', `schemas/${table}`, {
        body: { uniqueIndexes: { byKey: { fields: ['Key'] } } },
      });
      const [first, second] = await of(table).upsert(['Key'], [{ Key: 'a', City: 'Haifa' }, { City: 'Haifa' }]);
      assert.deepEqual([first?.error, second?.error?.code], [undefined, 142]);
      const [again] = await of(table).upsert(['Key'], [{ Key: 'a', Total: 5 }]);
      assert.ok(first && again && !first.error && !again.error);
      assert.deepEqual([first.created, again.created, again.objectId], [true, false, first.objectId]);
      assert.deepEqual((({ City, Total }) => [City, Total])(await of(table).get(first.objectId)), ['Haifa', 5]);
    });

    test('writes of all that match count first, and need the number that is there', async () => {
      const City = unique('City');
      await crm.transaction((items) => [1, 2, 3].map((Total) => items.table(accounts).create({ City, Total })));
      const where = { City, Total: { $gt: 1 } };
      assert.deepEqual(await of(accounts).updateWhere(where, { Name: 'x' }, { dryRun: true }), { matched: 2 });
      await refused(of(accounts).updateWhere(where, { Name: 'x' }, { expect: 3 }), {
        status: 409,
        code: 409,
        message: '2 records match, not 3.',
      });
      assert.equal((await of(accounts).updateWhere(where, { Name: 'x' }, { expect: 2 })).updated, 2);
      assert.equal(await of(accounts).count({ City, Name: 'x' }), 2);
      await refused(of(accounts).deleteWhere({}), { status: 400, code: 102 });
      assert.equal((await of(accounts).deleteWhere({ City }, { expect: 3 })).deleted, 3);
    });

    test('all records come once each while others write', async () => {
      const City = unique('City');
      const made = await crm.transaction((items) =>
        Array.from({ length: 25 }, () => items.table(accounts).create({ City, Total: 0 })),
      );
      const lasting = made.slice(5).map(({ objectId }) => objectId);
      const seen: string[] = [];
      for await (const { objectId } of of(accounts).all({ where: { City }, pageSize: 4, keys: ['Total'] })) {
        seen.push(objectId);
        // Every write changes what an order by date, or pages by number, would show next.
        if (seen.length % 4 === 1) {
          await of(accounts).create({ City });
          const [gone] = made.splice(0, made.length > 20 ? 1 : 0);
          if (gone) await of(accounts).delete(gone.objectId);
          await of(accounts).update(lasting[seen.length % 20] ?? '', { Total: seen.length });
        }
      }
      assert.equal(new Set(seen).size, seen.length, 'none twice');
      assert.deepEqual(
        lasting.filter((id) => !seen.includes(id)),
        [],
      );
      assert.deepEqual(await Array.fromAsync(of(accounts).all({ where: { City: unique('none') } })), []);
      await assert.rejects(Array.fromAsync(of(accounts).all({ pageSize: 0 })), TypeError);
    });

    test('a create that must be new, and a repetition with a key of the program', async () => {
      const objectId = unique('id');
      await of(accounts).create({ objectId, Name: 'first' }, { ifNoneMatch: '*' });
      await refused(of(accounts).create({ objectId, Name: 'second' }, { ifNoneMatch: '*' }), { status: 412, code: 409 });
      const idempotencyKey = unique('key');
      const first = await of(accounts).create({ Name: 'once' }, { idempotencyKey });
      assert.deepEqual(await of(accounts).create({ Name: 'once' }, { idempotencyKey }), first);
      await refused(of(accounts).create({ Name: 'other' }, { idempotencyKey }), { status: 422, code: 422 });
    });
  });
