import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { assertRefused, type Json, masterHeaders, path, pointer, unique, useStore } from '../support/records.ts';
import { type Answer, engines } from '../support/service.ts';

const times = <T>(count: number, make: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => make(n)));

/** Splits answers into successes and refusals; none may be a server error. */
const sorted = (answers: Answer[]) => {
  for (const answer of answers) assert.ok(answer.status < 500, answer.text);
  return { done: answers.filter((answer) => answer.status < 300), refused: answers.filter((answer) => answer.status >= 300) };
};

for (const engine of engines)
  describe(engine, () => {
    const store = useStore(engine);

    test('Operators/Increment: atomic add: 200 in parallel sum exactly, and each answers its own new value', async () => {
      const table = await store.table({ N: 'Number' });
      const id = await store.create(table, { N: 0 });
      const answers = await times(200, () => store.update(table, id, { N: { __op: 'Increment', amount: 1 } }));
      assert.equal((await store.read(table, id)).N, 200);
      assert.deepEqual(
        answers.map(({ N }) => N).sort((a, b) => a - b),
        Array.from({ length: 200 }, (_, n) => n + 1),
      );
    });

    test('Operators/Increment: up and down in parallel, on two fields and on a dotted path', async () => {
      const table = await store.table({ A: 'Number', B: 'Number', O: 'Object' });
      const id = await store.create(table, { O: { kept: true } });
      const by = (amount: number) => ({ __op: 'Increment', amount });
      await times(100, (n) => store.update(table, id, n % 2 ? { A: by(3), 'O.n': by(1) } : { A: by(-1), B: by(2) }));
      const { A, B, O } = await store.read(table, id);
      assert.deepEqual({ A, B, O }, { A: 100, B: 100, O: { kept: true, n: 50 } });
    });

    test('Operators/AddUnique: 50 in parallel leave one', async () => {
      const table = await store.table({ A: 'Array' });
      const id = await store.create(table, {});
      await times(50, () => store.update(table, id, { A: { __op: 'AddUnique', objects: [{ a: 1 }] } }));
      assert.deepEqual((await store.read(table, id)).A, [{ a: 1 }]);
    });

    test('Operators/Add, Remove: parallel changes of one array lose none', async () => {
      const table = await store.table({ A: 'Array' });
      const id = await store.create(table, { A: Array.from({ length: 25 }, (_, n) => `old ${n}`) });
      await times(50, (n) => {
        const change = n < 25 ? { __op: 'Add', objects: [`new ${n}`] } : { __op: 'Remove', objects: [`old ${n - 25}`] };
        return store.update(table, id, { A: change });
      });
      const expected = Array.from({ length: 25 }, (_, n) => `new ${n}`).sort();
      assert.deepEqual((await store.read(table, id)).A.sort(), expected);
    });

    test('Operators/AddRelation: 30 members added in parallel are all there', async () => {
      const target = await store.table();
      const table = await store.table({ R: { type: 'Relation', targetClass: target } });
      const id = await store.create(table, {});
      const members = await times(30, () => store.create(target, {}));
      await Promise.all(
        members.map((member) => store.update(table, id, { R: { __op: 'AddRelation', objects: [pointer(target, member)] } })),
      );
      assert.deepEqual(await store.members(table, id, 'R', target), members.sort());
    });

    test('Records/Update: parallel updates of different fields are all kept', async () => {
      const table = await store.table();
      const id = await store.create(table, Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`F${n}`, 0])));
      await times(40, (n) => store.update(table, id, { [`F${n}`]: n + 1 }));
      const record = await store.read(table, id);
      for (let n = 0; n < 40; n++) assert.equal(record[`F${n}`], n + 1);
    });

    test('Records: parallel first writes of a new field make one column', async () => {
      const table = await store.table();
      await times(30, (n) => store.create(table, { Fresh: n }));
      assert.equal((await store.fields(table)).Fresh.type, 'Number');
      assert.deepEqual(
        (await store.all(table)).map((row) => row.Fresh).sort((a, b) => a - b),
        Array.from({ length: 30 }, (_, n) => n),
      );
    });

    test('Records: parallel first writes of a new field with conflicting types: one type wins, 111 for the rest', async () => {
      const values: [string, Json][] = [
        ['Number', 1],
        ['Boolean', true],
        ['Array', [1]],
        ['Object', { a: 1 }],
      ];
      const table = await store.table();
      const tried = await times(40, async (n) => ({ n, answer: await store.post(table, { Fresh: values[n % 4]?.[1] }) }));
      const { type } = (await store.fields(table)).Fresh;
      for (const { n, answer } of tried) {
        const [own] = values[n % 4] ?? [];
        if (own === type) assert.equal(answer.status, 201, answer.text);
        else assertRefused(answer, { code: 111, error: `schema mismatch for ${table}.Fresh; expected ${type} but got ${own}` });
      }
      assert.equal((await store.all(table)).length, 10);
    });

    test('Records: parallel first writes of different new fields add every column', async () => {
      const table = await store.table();
      const ids = await times(30, (n) => store.create(table, { [`Fresh${n}`]: n }));
      const fields = await store.fields(table);
      for (const [n, id] of ids.entries()) {
        assert.equal(fields[`Fresh${n}`]?.type, 'Number');
        assert.equal((await store.read(table, id))[`Fresh${n}`], n);
      }
    });

    test('Records: parallel first writes of a table make one table with every record', async () => {
      const table = unique('T');
      await times(30, (n) => store.create(table, { N: n }));
      assert.equal((await store.all(table)).length, 30);
    });

    test('Records: parallel first writes of tables that differ only by case make each its own', async () => {
      const name = unique('Case');
      const names = [name, name.toLowerCase(), name.toUpperCase()];
      await times(30, (n) => store.create(names[n % 3] ?? name, { N: n }));
      for (const [n, table] of names.entries()) {
        assert.deepEqual(
          (await store.all(table)).map((row) => row.N % 3),
          Array(10).fill(n),
        );
      }
    });

    test('Records: parallel creates of the same own objectId: one 201, 137 for the rest', async () => {
      const table = await store.table({ N: 'Number' });
      const { done, refused } = sorted(await times(30, (N) => store.post(table, { objectId: 'mine', N })));
      assert.equal(done.length, 1);
      for (const answer of refused) assertRefused(answer, { code: 137 });
      assert.equal((await store.all(table)).length, 1);
    });

    test('Records/Delete: parallel deletes of one record: one 200, 404 for the rest', async () => {
      const table = await store.table();
      const id = await store.create(table, {});
      const { done, refused } = sorted(await times(20, () => store.remove(table, id)));
      assert.equal(done.length, 1);
      for (const answer of refused) assertRefused(answer, { code: 101 });
    });

    test('Records/Delete: updates that race a delete are done before it or 404; nothing comes back to life', async () => {
      const table = await store.table({ N: 'Number' });
      const id = await store.create(table, { N: 0 });
      const answers = await times(30, (n) => (n === 15 ? store.remove(table, id) : store.put(table, id, { N: n })));
      for (const answer of sorted(answers).refused) assertRefused(answer, { code: 101 });
      assertRefused(await store.get(table, id), { code: 101 });
      assert.deepEqual(await store.all(table), []);
    });

    test('Records: one refused write among many parallel ones refuses only itself', async () => {
      const table = await store.table({ N: 'Number', S: 'String' });
      const answers = await times(60, (n) => store.post(table, n % 3 ? { N: n } : { S: 'half', N: 'wrong' }));
      const { done, refused } = sorted(answers);
      assert.deepEqual([done.length, refused.length], [40, 20]);
      const rows = await store.all(table);
      assert.equal(rows.length, 40);
      assert.ok(rows.every((row) => row.S === undefined));
    });

    test('Records/Query: a client that reads a long answer slowly keeps no other reader in the past', {
      timeout: 40_000,
    }, async () => {
      const table = await store.table({ T: 'String' });
      const body = { T: 'x'.repeat(50_000) };
      const requests = Array.from({ length: 300 }, () => ({ method: 'POST', path: path(table), body }));
      assert.equal((await store.call('POST', '/platform/batch', { body: { requests } })).status, 200);
      const { hostname, port } = new URL(store.service().url);
      const socket = connect(Number(port), hostname).pause();
      const head = Object.entries({ Host: hostname, ...masterHeaders(store.service()) }).map((pair) => pair.join(': '));
      socket.write(`GET ${path(table)}?limit=1000 HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n`);
      await pause(500);
      await store.create(table, { T: 'fresh', New: 5 });
      for (const where of [{ T: { $regex: 'f[r]esh' } }, { New: 5, T: { $regex: 'f[r]esh' } }]) {
        const { status, body } = await store.call('GET', path(table), { query: { where, limit: 1000 } });
        assert.deepEqual([status, body.results?.length], [200, 1]);
      }
      socket.destroy();
    });

    test('Records/Query: reads that race the deletion of a field, or its new type, are answered', async () => {
      const table = await store.table({ X: 'String' });
      await times(20, (n) => store.create(table, { X: `a${n}` }));
      const change = (fields: Json) => store.call('PUT', `/platform/schemas/${table}`, { body: { fields } });
      const query = { where: { X: { $exists: true } }, order: '-X', limit: 1000, count: 1 };
      const answers = await times(150, (n) => {
        if (n % 5 === 0) return change({ X: { __op: 'Delete' } });
        return n % 5 === 1 ? change({ X: { type: 'Number' } }) : store.call('GET', path(table), { query });
      });
      for (const { status, body } of sorted(answers).done)
        if (body.results) assert.equal(body.results.length, body.count, `${status}`);
    });

    test('Records/Create: an acknowledged write is read back at once, while others write', async () => {
      const table = await store.table({ N: 'Number' });
      await times(60, async (n) => {
        const id = await store.create(table, { N: n });
        assert.equal((await store.read(table, id)).N, n);
      });
    });
  });
