/** Snapshots that two processes apply at once: one after the other, each against what it was compared with. Reference: schema-as-code.md#apply. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Json, path, unique } from '../support/records.ts';
import { soon } from '../support/soon.ts';
import { both, describeProcesses } from './processes.ts';

describeProcesses('schema apply over two processes', (stores) => {
  const [a, b] = both(stores);
  const send = (store: typeof a, what: 'diff' | 'apply', body: Json) => store.call('POST', `/platform/schema/${what}`, { body });
  const snapshotWith = (table: string): Json => ({
    format: 1,
    tables: { [table]: { fields: { Name: { type: 'String', dictionary: 'a label' } } } },
    roles: { [table]: {} },
    triggers: [{ Name: table, table, events: ['create'], actions: [] }],
    reports: [{ Name: table, table }],
  });
  const countIn = async (className: string, where: Json) =>
    (await a.call('GET', path(className), { query: { where, count: 1, limit: 0 } })).body.count;

  test('both apply the same snapshot with the same hash: it is applied once', async () => {
    for (let round = 0; round < 4; round++) {
      const table = unique('Once');
      const snapshot = snapshotWith(table);
      const { hash } = (await send(a, 'diff', snapshot)).body;
      await soon(async () => assert.equal((await send(b, 'diff', snapshot)).body.hash, hash));
      const answers = await Promise.all([a, b, a, b].map((store) => send(store, 'apply', { hash, snapshot })));
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409, 409]);
      for (const answer of answers)
        if (answer.status === 409) assert.deepEqual(answer.body, { code: 409, error: 'the schema has changed since the diff' });
      for (const [className, where] of [
        ['_Role', { name: table }],
        ['_Trigger', { table }],
        ['_DynamicQueries', { table }],
        ['_Dictionary', { tblName: table }],
      ] as const)
        assert.equal(await countIn(className, where), 1, className);
      assert.deepEqual((await send(b, 'diff', snapshot)).body.changes, []);
    }
  });

  test('one applies while the other changes the schema and its records: what was compared is what is changed', async () => {
    for (let round = 0; round < 4; round++) {
      const [table, other] = [unique('Apply'), unique('Other')];
      const snapshot = snapshotWith(table);
      const { hash } = (await send(a, 'diff', snapshot)).body;
      const [applied, changed] = await Promise.all([
        send(a, 'apply', { hash, snapshot }),
        b.call('POST', `/platform/schemas/${other}`, { body: { fields: { x: { type: 'Date' } } } }),
      ]);
      assert.equal(changed.status, 200, changed.text);
      assert.ok(applied.status === 200 || applied.status === 409, applied.text);
      assert.equal(await countIn('_Role', { name: table }), applied.status === 200 ? 1 : 0);
      assert.equal(await countIn('_Trigger', { table }), applied.status === 200 ? 1 : 0);
    }
  });
});
