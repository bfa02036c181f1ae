/** One condition, two processes: the commit decides. Reference: records.md#conditional-writes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unique } from '../support/records.ts';
import { soon } from '../support/soon.ts';
import { both, describeProcesses, ROUNDS, times } from './processes.ts';

describeProcesses('conditional writes of two processes', (stores) => {
  const [a, b] = both(stores);
  const of = (n: number) => (n % 2 ? b : a);

  test('40 writers with one ETag: one wins in each round, and versions never repeat', async () => {
    const table = await a.table({ N: 'Number' });
    await soon(async () => assert.equal((await b.call('GET', `/platform/schemas/${table}`)).status, 200));
    const id = await a.create(table, { N: 0 });
    const tags = new Set<string>();
    for (let round = 0; round < ROUNDS; round++) {
      const tag = (await of(round).get(table, id)).headers.get('etag') ?? '';
      const change = { N: { __op: 'Increment', amount: 1 } };
      const answers = await times(40, (n) => of(n).put(table, id, change, { headers: { 'If-Match': tag } }));
      const won = answers.filter(({ status }) => status === 200);
      assert.equal(won.length, 1);
      assert.equal(answers.filter(({ status }) => status === 412).length, 39);
      tags.add(won[0]?.headers.get('etag') ?? '');
    }
    assert.equal(tags.size, ROUNDS);
    assert.equal((await b.read(table, id)).N, ROUNDS);
    const all = await times(60, (n) => of(n).put(table, id, { N: n }));
    assert.equal(new Set(all.map(({ headers }) => headers.get('etag'))).size, 60);
  });

  test('of creates of one objectId one is made', async () => {
    const table = await a.table({ N: 'Number' });
    await soon(async () => assert.equal((await b.call('GET', `/platform/schemas/${table}`)).status, 200));
    const objectId = unique('own');
    const answers = await times(20, (n) => of(n).post(table, { N: n, objectId }, { headers: { 'If-None-Match': '*' } }));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, ...Array(19).fill(412)]);
  });
});
