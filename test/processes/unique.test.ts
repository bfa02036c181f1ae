/** Unique indexes, required fields and upserts under writes of two processes. Reference: schemas.md#unique-indexes, records.md#upsert. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Json, path } from '../support/records.ts';
import { both, describeProcesses, ROUNDS, sorted, times, together } from './processes.ts';

describeProcesses('constraints over two processes', (stores) => {
  const [a, b] = both(stores);
  const of = (n: number) => (n % 2 ? a : b);
  const put = (store: typeof a, table: string, body: object) => store.call('PUT', `/platform/schemas/${table}`, { body });
  const define = async (fields: Record<string, string>, uniqueIndexes: object) => {
    const table = await a.table(fields);
    assert.equal((await put(a, table, { uniqueIndexes })).status, 200);
    return table;
  };
  const duplicate = (field: string, index: string) => ({
    code: 137,
    error: `Another record has this value of ${field} (unique index ${index})`,
    fields: [field],
  });

  test('of records with one value, written by both at once, one wins; the other does not know the index yet', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const table = await define({ s: 'String' }, { one: { fields: ['s'], as: 'nocase' } });
      const { done, refused } = sorted(await times(20, (n) => of(n).post(table, { s: n % 3 ? 'Key' : 'kEY' })));
      assert.equal(done.length, 1);
      for (const { body } of refused) assert.deepEqual(body, duplicate('s', 'one'));
      assert.equal((await b.all(table)).length, 1);
    }
  });

  test('batches of the same values in opposite orders: each value once, and only the items that lose fail', async () => {
    const table = await define({ s: 'String', n: 'Number' }, { one: { fields: ['s'] } });
    for (let round = 0; round < ROUNDS; round++) {
      const requests = Array.from({ length: 60 }, (_, n) => ({
        method: 'POST',
        path: path(table),
        body: n % 7 ? { s: `r${round} ${n}` } : { s: `r${round} ${n}`, n },
      }));
      const answers = await times(4, (n) =>
        of(n).call('POST', '/platform/batch', { body: { requests: n < 2 ? requests : requests.toReversed() } }),
      );
      const items = answers.flatMap(({ body }) => body as Json[]);
      assert.equal(items.filter(({ success }) => success).length, 60);
      for (const { error } of items) if (error) assert.deepEqual(error, duplicate('s', 'one'));
    }
    assert.equal((await a.all(table)).length, 60 * ROUNDS);
  });

  test('updates to one value by both: one record has it', async () => {
    const table = await define({ s: 'String' }, { one: { fields: ['s'] } });
    const ids = await times(10, () => a.create(table, {}));
    for (let round = 0; round < ROUNDS; round++) {
      const { done } = sorted(await times(10, (n) => of(n).put(table, ids[n] as string, { s: `v${round}` })));
      assert.equal(done.length, 1);
    }
  });

  test('an index that one builds while both write: whatever is written then is in it or refused', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const table = await a.table({ s: 'String' });
      const writes = together(40, async (n) => {
        const answers = [];
        for (let m = 0; m < 3; m++) answers.push(await of(n).post(table, { s: `${(n * 3 + m) % 100}` }));
        return answers;
      });
      const made = await put(a, table, { uniqueIndexes: { one: { fields: ['s'] } } });
      sorted((await writes).flat());
      const values = (await a.all(table)).map(({ s }) => s);
      if (made.status === 200) assert.equal(new Set(values).size, values.length);
      else assert.equal(made.body.code, 137, made.text);
    }
  });

  test('a field that one makes required while both create: no record lacks it afterwards', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const table = await a.table({ F: 'String' });
      const creates = together(30, async (n) => {
        const answers = [];
        for (let m = 0; m < 3; m++) answers.push(await of(n).post(table, (n + m) % 10 ? { F: 'x' } : {}));
        return answers;
      });
      const made = await put(a, table, { fields: { F: { type: 'String', required: true } } });
      const { refused } = sorted((await creates).flat());
      for (const { body } of refused) assert.deepEqual(body, { code: 142, error: 'F is required' });
      const lacking = (await b.all(table)).filter(({ F }) => F === undefined).length;
      assert.deepEqual([made.status, lacking === 0], made.status === 200 ? [200, true] : [400, false], made.text);
    }
  });

  test('Upsert: forty writers of both, with the same keys: one record each, and no increment is lost', async () => {
    const table = await define({ s: 'String', n: 'Number' }, { one: { fields: ['s'], as: 'phone' } });
    const plus = { __op: 'Increment', amount: 1 };
    for (let round = 0; round < ROUNDS; round++) {
      const records = (n: number) =>
        Array.from({ length: 4 }, (_, at) => ({ s: n % 3 ? `+972 3-${round}00000${at}` : `03${round}00000${at}`, n: plus }));
      const answers = await times(40, (n) =>
        of(n).call('POST', `/platform/upsert/${table}`, { body: { matchOn: ['s'], records: records(n) } }),
      );
      const results = answers.flatMap(({ body, status, text }) => {
        assert.equal(status, 200, text);
        return body.results as Json[];
      });
      for (const result of results) assert.equal(result.error, undefined);
      assert.equal(results.filter(({ created }) => created).length, 4);
    }
    const stored = await a.all(table);
    assert.deepEqual([stored.length, new Set(stored.map(({ n }) => n))], [4 * ROUNDS, new Set([40])]);
  });

  test('Upsert beside deletes: each record is there or not, and no call fails', async () => {
    const table = await define({ s: 'String' }, { one: { fields: ['s'] } });
    const upsert = (n: number) =>
      of(n).call('POST', `/platform/upsert/${table}`, { body: { matchOn: ['s'], records: [{ s: 'x' }] } });
    for (let round = 0; round < ROUNDS * 3; round++) {
      const [{ objectId }] = (await upsert(0)).body.results;
      const [removed, ...answers] = await Promise.all([a.remove(table, objectId), upsert(0), upsert(1), upsert(1)]);
      assert.equal(removed?.status, 200, removed?.text);
      for (const { body, text } of answers) assert.equal(body.results[0].error, undefined, text);
      assert.ok((await b.all(table)).length <= 1);
    }
  });
});
