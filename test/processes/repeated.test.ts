/** Keys of repeated requests are known to every process. Reference: requests.md#repeated-requests. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { path } from '../support/records.ts';
import { soon } from '../support/soon.ts';
import { both, describeProcesses, ROUNDS, times } from './processes.ts';

describeProcesses('repeated requests of two processes', (stores) => {
  const [a, b] = both(stores);
  const of = (n: number) => (n % 2 ? b : a);
  const keyed = (key = randomUUID()) => ({ headers: { 'Idempotency-Key': key } });
  const bothKnow = (table: string) =>
    soon(async () => assert.equal((await b.call('GET', `/platform/schemas/${table}`)).status, 200));

  test('what one has done the other answers', async () => {
    const table = await a.table({ A: 'Number' });
    await bothKnow(table);
    const id = await a.create(table, { A: 0 });
    const up = { A: { __op: 'Increment', amount: 1 } };
    for (const [method, at, body] of [
      ['POST', path(table), { A: 1 }],
      ['PUT', path(table, id), up],
      ['POST', '/platform/batch', { requests: [{ method: 'PUT', path: path(table, id), body: up }] }],
      ['POST', '/platform/batch', { transaction: true, requests: [{ method: 'PUT', path: path(table, id), body: up }] }],
      ['DELETE', path(table, id), undefined],
    ] as const) {
      const options = { ...keyed(), ...(body && { body }) };
      const first = await a.call(method, at, options);
      const second = await b.call(method, at, options);
      assert.deepEqual([second.status, second.body], [first.status, first.body], `${method} ${at}`);
      assert.equal(second.headers.get('idempotency-replayed'), 'true');
    }
  });

  test('one key at both at the same moment: one effect in each round', async () => {
    const table = await a.table({ A: 'Number', L: 'Array' });
    await bothKnow(table);
    const id = await a.create(table, { A: 0, L: [] });
    for (let round = 1; round <= ROUNDS * 2; round++) {
      const body = { A: { __op: 'Increment', amount: 1 }, L: { __op: 'Add', objects: [round] } };
      const options = keyed();
      const answers = await times(8, (n) => of(n).put(table, id, body, options));
      const done = answers.filter(({ status }) => status === 200);
      for (const { status } of answers) assert.ok(status === 200 || status === 409, String(status));
      assert.equal(done.filter(({ headers }) => headers.get('idempotency-replayed') === null).length, 1);
      assert.equal(new Set(done.map(({ text }) => text)).size, 1);
      const created = await times(8, (n) => of(n).post(table, { A: round }, options));
      assert.ok(created.every(({ status }) => status === 422 || status === 409));
      const own = keyed();
      const made = await times(8, (n) => of(n).post(table, { A: -round }, own));
      assert.equal(new Set(made.filter(({ status }) => status === 201).map(({ text }) => text)).size, 1);
    }
    const { A, L } = await b.read(table, id);
    assert.deepEqual([A, L.length], [ROUNDS * 2, ROUNDS * 2]);
    assert.equal((await a.all(table)).length, 1 + ROUNDS * 2);
  });

  test('a batch under way at one is 409 at the other, which then has its answer', async () => {
    const table = await a.table({ A: 'Number' });
    await bothKnow(table);
    const requests = Array.from({ length: 3_000 }, (_, n) => ({ method: 'POST', path: path(table), body: { A: n } }));
    const options = { body: { requests }, ...keyed() };
    const answers = await times(4, (n) => of(n).call('POST', '/platform/batch', options));
    for (const { status, text } of answers) assert.ok(status === 200 || status === 409, text.slice(0, 200));
    const last = await b.call('POST', '/platform/batch', options);
    assert.equal(last.body.length, 3_000);
    const { body } = await b.call('GET', path(table), { query: { limit: 0, count: 1 } });
    assert.equal(body.count, 3_000);
  });
});
