/** Many clients write the same rows through several processes: sums are exact, no client sees a lock, nothing is lost. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dataForTest } from '../support/data.ts';
import { type Json, path, pointer, unique } from '../support/records.ts';
import { type Answer, engines } from '../support/service.ts';
import { soon } from '../support/soon.ts';
import { both, describeProcesses, ROUNDS, sorted, startServices, times } from './processes.ts';

const by = (amount: number) => ({ __op: 'Increment', amount });

describeProcesses('contention over two processes', (stores) => {
  const [a, b] = both(stores);
  const of = (n: number) => (n % 2 ? a : b);

  test('50 clients increment the same three rows: the sums are exact', async () => {
    const table = await a.table({ N: 'Number' });
    const ids = await times(3, () => a.create(table, { N: 0 }));
    const seen = ids.map(() => new Set<number>());
    await times(50, async (client) => {
      for (let n = 0; n < 15; n++) {
        const row = (client + n) % 3;
        const answer = await of(client).put(table, ids[row] ?? '', { N: by(1) });
        assert.equal(answer.status, 200, answer.text);
        assert.ok(!seen[row]?.has(answer.body.N), `two answers with ${answer.body.N}`);
        seen[row]?.add(answer.body.N);
      }
    });
    for (const [row, id] of ids.entries()) assert.equal((await a.read(table, id)).N, 250, `row ${row}`);
    assert.deepEqual(
      seen.map(({ size }) => size),
      [250, 250, 250],
    );
  });

  test('batches that touch the same rows in opposite orders: no deadlock surfaces', async () => {
    const table = await a.table({ N: 'Number', S: 'String' });
    const ids = await times(20, () => a.create(table, { N: 0 }));
    await times(12, async (client) => {
      for (let n = 0; n < 4; n++) {
        const order = client % 4 < 2 ? ids : [...ids].reverse();
        const requests = order.map((id) => ({ method: 'PUT', path: path(table, id), body: { N: by(1), S: `${client}` } }));
        const { status, body, text } = await of(client).call('POST', '/platform/batch', { body: { requests } });
        assert.equal(status, 200, text);
        for (const item of body) assert.ok(item.success, JSON.stringify(item));
      }
    });
    for (const { N } of await a.all(table)) assert.equal(N, 48);
  });

  test('singles, batches, deletes and Relations on the same rows: no fault, and every answer is true', async () => {
    const target = await a.table();
    const table = await a.table({ N: 'Number', R: { type: 'Relation', targetClass: target }, A: 'Array' });
    const [owner, members] = [await a.create(table, { N: 0 }), await times(6, () => a.create(target, {}))];
    let incremented = 0;
    await times(24, async (client) => {
      const store = of(client);
      for (let n = 0; n < 5; n++) {
        const objects = [members[n % 6], members[(n + client) % 6]].map((id) => pointer(target, id ?? ''));
        const answers: Answer[] = [
          await store.put(table, owner, { N: by(1), R: { __op: n % 2 ? 'AddRelation' : 'RemoveRelation', objects } }),
          await store.put(table, owner, { A: { __op: n % 2 ? 'AddUnique' : 'Remove', objects: [client, n] } }),
        ];
        const own = await store.create(table, { N: client });
        answers.push(await store.remove(table, own));
        const { refused } = sorted(answers);
        assert.deepEqual(
          refused.map(({ text }) => text),
          [],
        );
        incremented++;
      }
    });
    assert.equal((await b.read(table, owner)).N, incremented);
  });

  test('records made with the same objectId at once: one is made, the others are 137', async () => {
    const table = await a.table({ N: 'Number' });
    for (let round = 0; round < ROUNDS; round++) {
      const objectId = unique('id');
      const { done, refused } = sorted(await times(10, (n) => of(n).post(table, { objectId, N: n })));
      assert.deepEqual([done.length, new Set(refused.map(({ body }) => body.code))], [1, new Set([137])]);
    }
  });

  test('a record is deleted by many at once: one does it, to the others it is gone', async () => {
    const table = await a.table();
    for (let round = 0; round < ROUNDS; round++) {
      const id = await a.create(table, {});
      const { done, refused } = sorted(await times(10, (n) => of(n).remove(table, id)));
      assert.deepEqual([done.length, new Set(refused.map(({ body }) => body.code))], [1, new Set([101])]);
    }
  });

  test('what one has answered the other reads at once', async () => {
    const table = await a.table({ N: 'Number' });
    const id = await a.create(table, { N: 0 });
    // The other knows the table itself within a second.
    await soon(() => b.read(table, id));
    for (let n = 1; n <= 40; n++) {
      const [writer, reader] = n % 2 ? [a, b] : [b, a];
      await writer.update(table, id, { N: n });
      assert.equal((await reader.read(table, id)).N, n);
      const { body } = await reader.call('GET', path(table), { query: { where: { N: n } } });
      assert.equal(body.results.length, 1, `${n} is not found`);
    }
  });

  test('creates by both come in one order, which all see alike', async () => {
    const table = await a.table({ N: 'Number' });
    await times(60, (n) => of(n).create(table, { N: n }));
    const ids = (rows: Json[]) => rows.map(({ objectId }) => objectId);
    const order = ids(await a.all(table));
    assert.equal(new Set(order).size, 60);
    assert.deepEqual(ids(await b.all(table)), order);
  });

  test('the request log has one row for each write, whichever process it came by', async () => {
    const table = await a.table({ N: 'Number' });
    await times(40, (n) => of(n).create(table, { N: n }));
    const rows = async () =>
      (await a.call('GET', path('_RequestLog'), { query: { where: { path: path(table) }, limit: 1000 } })).body.results;
    await soon(async () => assert.equal((await rows()).length, 40), 5_000);
  });
});

describeProcesses(
  'contention over three processes',
  (stores) => {
    test('each adds fields to one table while all write it: no write is refused', async () => {
      const table = unique('T');
      await times(30, async (n) => {
        const store = stores[n % stores.length];
        for (let round = 0; round < 5; round++) {
          const answer = await store?.post(table, { [`F${round * 10 + (n % 10)}`]: n, Shared: n });
          assert.equal(answer?.status, 201, answer?.text);
        }
      });
      for (const store of stores) await soon(async () => assert.equal((await store.all(table)).length, 150));
    });
  },
  3,
);

if (engines.includes('postgres'))
  test('three first starts at the same moment on an empty database make one system', async () => {
    const { database } = await dataForTest('postgres', false);
    assert.ok(database);
    const services = await startServices(3, database);
    try {
      const made = await services[0]?.call('POST', '/platform/classes/T', { body: { n: 1 } });
      assert.equal(made?.status, 201, made?.text);
      for (const { call } of services) {
        const { body } = await call('GET', '/platform/schemas');
        assert.ok(body.results.length >= 100, `${body.results.length} tables`);
        await soon(async () => assert.equal((await call('GET', '/platform/classes/T')).body.results.length, 1));
        assert.equal((await call('GET', '/platform/users')).body.results.length, 1, 'one administrator');
      }
    } finally {
      for (const service of services) await service.stop();
    }
  });
