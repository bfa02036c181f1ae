/** Writes by `where` of two processes: the commit decides. Reference: records.md#write-many-records. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Json, path, type Store } from '../support/records.ts';
import { soon } from '../support/soon.ts';
import { both, describeProcesses, times } from './processes.ts';

const RECORDS = 1_500;

describeProcesses('writes by where of two processes', (stores) => {
  const [a, b] = both(stores);
  const increment = { n: { __op: 'Increment', amount: 1 } };
  const many = async (store: Store, method: 'PUT' | 'DELETE', name: string, query: Json, body?: Json): Promise<Json> => {
    const answer = await store.call(method, path(name), { query, ...(body && { body }) });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(
      answer.body.matched,
      (answer.body.updated ?? answer.body.deleted) + (answer.body.refusedCount ?? answer.body.refused.length),
    );
    return answer.body;
  };
  const filled = async () => {
    const name = await a.table({ n: 'Number', m: 'Number' });
    const requests = Array.from({ length: RECORDS }, () => ({ method: 'POST', path: path(name), body: { n: 0, m: 0 } }));
    assert.equal((await a.call('POST', '/platform/batch', { body: { requests } })).status, 200);
    await soon(async () => assert.equal((await b.call('GET', `/platform/schemas/${name}`)).status, 200));
    return name;
  };
  const sum = async (name: string, field: string) =>
    (
      await a.call('GET', `/platform/classes-aggregate/${name}`, {
        query: { pipeline: [{ $group: { _id: null, s: { $sum: `$${field}` } } }] },
      })
    ).body.results[0].s;

  test('every update counts, and none is counted that was not made', async () => {
    const name = await filled();
    const answers = await Promise.all(
      [a, b, a, b].map((store) => many(store, 'PUT', name, { where: {}, expect: RECORDS }, increment)),
    );
    const updated = answers.reduce((all, answer) => all + answer.updated, 0);
    assert.equal(await sum(name, 'n'), updated);
    assert.ok(updated > RECORDS);
  });

  test('a record that stops matching meanwhile is not written', async () => {
    const name = await filled();
    const take = () => many(a, 'PUT', name, { where: { n: 0 } }, increment);
    const [first, second, others] = await Promise.all([
      take(),
      many(b, 'PUT', name, { where: { n: 0 } }, increment),
      times(200, async (n) => {
        const { results } = (await b.call('GET', path(name), { query: { skip: n * 7, limit: 1 } })).body;
        return b.put(name, results[0].objectId, { m: { __op: 'Increment', amount: 1 } });
      }),
    ]);
    assert.ok(others.every(({ status }) => status === 200));
    // Whichever came first, n is 1 in all; a record that others changed all the time may be left.
    assert.equal(await sum(name, 'n'), first.updated + second.updated);
    assert.ok((await a.all(name)).every(({ n }: Json) => n <= 1));
    assert.equal(await sum(name, 'm'), 200);
    for (const { code, error } of [...first.refused, ...second.refused])
      assert.deepEqual([code, error], [409, 'The record has changed meanwhile.']);
    await many(a, 'PUT', name, { where: { n: 0 } }, increment);
    assert.equal(await sum(name, 'n'), RECORDS);
  });

  test('each record is deleted by one of them', async () => {
    const name = await filled();
    const answers = await Promise.all([a, b].map((store) => many(store, 'DELETE', name, { where: { n: 0 } })));
    assert.equal(
      answers.reduce((all, { deleted }) => all + deleted, 0),
      RECORDS,
    );
    assert.deepEqual(await b.all(name), []);
  });
});
