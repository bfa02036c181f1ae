/** Batches with an `Idempotency-Key`. Reference: requests.md#repeated-requests. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { path, unique, useStore } from '../support/records.ts';
import { type Answer, type CallOptions, engines } from '../support/service.ts';
import { newName, password, signUp } from '../support/users.ts';

interface Item {
  method: string;
  path: string;
  body?: unknown;
}

const isReplay = ({ headers }: Answer): boolean => headers.get('idempotency-replayed') === 'true';

for (const engine of engines)
  describe(engine, () => {
    const store = useStore(engine);
    const send = (requests: readonly Item[], key: string, more: object = {}, options: CallOptions = {}) =>
      store.call('POST', '/platform/batch', { body: { requests, ...more }, headers: { 'Idempotency-Key': key }, ...options });
    const post = (table: string, body: object): Item => ({ method: 'POST', path: path(table), body });
    const put = (table: string, id: string, body: object): Item => ({ method: 'PUT', path: path(table, id), body });
    const up = { A: { __op: 'Increment', amount: 1 } };

    for (const transaction of [false, true])
      test(`transaction: ${transaction}: a repetition has the answer of the first, and no effect`, async () => {
        const table = await store.table({ A: 'Number', L: 'Array' });
        const id = await store.create(table, { A: 0 });
        const gone = await store.create(table, {});
        const requests = [
          post(table, { A: 5 }),
          put(table, id, { ...up, L: { __op: 'Add', objects: ['x'] } }),
          put(table, id, up),
          { method: 'DELETE', path: path(table, gone) },
          post('_User', { username: newName(), password }),
        ];
        const key = randomUUID();
        const first = await send(requests, key, { transaction });
        assert.equal(first.status, 200, first.text);
        await store.update(table, id, { A: 50 });
        const second = await send(requests, key, { transaction });
        assert.deepEqual([second.status, second.body, isReplay(second)], [200, first.body, true]);
        assert.equal(second.headers.get('cache-control'), 'no-store');
        assert.deepEqual((await store.all(table)).map(({ A }) => A).sort(), [5, 50]);
        const other = await send([...requests, post(table, {})], key, { transaction });
        assert.equal(other.status, 422);
        const flipped = await send(requests, key, { transaction: !transaction });
        assert.equal(flipped.status, 422);
      });

    test('refused items are part of the kept answer', async () => {
      const table = await store.table({ A: 'Number' });
      const objectId = unique('own');
      const requests = [put(table, objectId, { A: 1 }), post(table, { A: 1 })];
      const key = randomUUID();
      const first = await send(requests, key);
      assert.equal(first.body[0].error.code, 101);
      await store.create(table, { objectId });
      assert.deepEqual((await send(requests, key)).body, first.body);
    });

    test('a transaction that is refused keeps no key', async () => {
      const table = await store.table({ A: 'Number' });
      const objectId = unique('own');
      const requests = [post(table, { A: 1 }), put(table, objectId, { A: 1 })];
      const key = randomUUID();
      assert.equal((await send(requests, key, { transaction: true })).status, 404);
      await store.create(table, { objectId });
      const done = await send(requests, key, { transaction: true });
      assert.deepEqual([done.status, isReplay(done)], [200, false]);
      assert.equal((await store.all(table)).length, 2);
    });

    test('an answer that is too long to be kept is made again from its items', async () => {
      const table = await store.table({ A: 'Number' });
      const id = await store.create(table, { A: 0 });
      const requests = Array.from({ length: 1_200 }, (_, n) => (n % 2 ? put(table, id, up) : post(table, { A: n })));
      const key = randomUUID();
      const first = await send(requests, key);
      assert.ok(first.text.length > 64 * 1024);
      const second = await send(requests, key);
      assert.deepEqual([second.body, isReplay(second)], [first.body, true]);
      assert.equal((await store.all(table)).length, 601);
      assert.equal((await store.read(table, id)).A, 600);
    });

    test('refused items, and items that are no records, are part of an answer of any length', async () => {
      const table = await store.table({ A: 'Number' });
      const objectId = unique('own');
      const requests = Array.from({ length: 1_200 }, (_, n) => (n % 3 ? post(table, { A: n }) : put(table, objectId, up)));
      requests.splice(7, 0, { method: 'PUT', path: `/platform/schemas/${table}`, body: { fields: { B: { type: 'Number' } } } });
      const key = randomUUID();
      const first = await send(requests, key);
      assert.ok(first.text.length > 64 * 1024);
      assert.deepEqual([first.body[6].error.code, first.body[7].success.className], [101, table]);
      await store.create(table, { objectId, A: 0 });
      await store.call('PUT', `/platform/schemas/${table}`, { body: { fields: { B: { __op: 'Delete' } } } });
      const second = await send(requests, key);
      assert.deepEqual([second.body, isReplay(second)], [first.body, true]);
      assert.equal((await store.read(table, objectId)).A, 0);
      assert.equal((await store.fields(table)).B, undefined);
    });

    test('a batch under way is 409, and nothing of the second is done', async () => {
      const table = await store.table({ A: 'Number' });
      const requests = Array.from({ length: 2_000 }, (_, n) => post(table, { A: n }));
      const key = randomUUID();
      const answers = await Promise.all(Array.from({ length: 4 }, () => send(requests, key)));
      for (const { status } of answers) assert.ok(status === 200 || status === 409, String(status));
      assert.ok(answers.some(({ status }) => status === 200));
      const { body } = await store.call('GET', path(table), { query: { limit: 0, count: 1 } });
      assert.equal(body.count, 2_000);
    });

    test('the callers of one key are apart', async () => {
      const user = await signUp(store);
      const table = await store.table({ A: 'Number' });
      await store.call('PUT', `/platform/schemas/${table}`, { body: { classLevelPermissions: { create: { '*': true } } } });
      const key = randomUUID();
      for (const options of [{ as: 'master' }, { session: user.token }] as CallOptions[])
        assert.ok((await send([post(table, { A: 1 })], key, {}, options)).body[0].success);
      assert.equal((await store.all(table)).length, 2);
    });

    test('a request that is refused before anything keeps no key', async () => {
      const key = randomUUID();
      const bad = { method: 'POST', path: '/platform/nothing', body: {} };
      for (let n = 0; n < 2; n++) assert.equal((await send([bad], key)).body.code, 107);
      assert.deepEqual((await send([], key)).body, []);
    });
  });
