/** Renames and new types of fields beside work of other processes. Reference: schemas.md#rename-a-field. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertRefused, path, unique } from '../support/records.ts';
import { soon } from '../support/soon.ts';
import { both, describeProcesses } from './processes.ts';

const rename = (to: string) => ({ __op: 'Rename', to });

describeProcesses('renames and types over two processes', (stores) => {
  const [a, b] = both(stores);
  const change = (store: typeof a, table: string, fields: object) =>
    store.call('PUT', `/platform/schemas/${table}`, { body: { fields } });

  test('the other process knows both names within a second, and writes under the new one at once', async () => {
    const table = await a.table({ Old: 'String', n: 'Number' });
    await soon(async () => assert.ok(await b.fields(table)));
    const id = await b.create(table, { Old: 'x' });
    assert.equal((await change(a, table, { Old: rename('New') })).status, 200);
    await soon(async () => {
      assert.equal((await b.read(table, id)).New, 'x');
      assertRefused(await b.put(table, id, { Old: 'y' }), { code: 105, error: 'Invalid field name: Old (renamed to New)' });
    });
    assert.equal((await b.put(table, id, { New: 'y' })).status, 200);
    assert.equal((await a.read(table, id)).New, 'y');
  });

  test('both rename a field at once: one wins, the other is refused', async () => {
    for (let round = 0; round < 4; round++) {
      const table = await a.table({ Old: 'String' });
      await soon(async () => assert.ok(await b.fields(table)));
      const answers = await Promise.all([change(a, table, { Old: rename('X') }), change(b, table, { Old: rename('Y') })]);
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 400]);
      assert.equal(answers.find(({ status }) => status === 400)?.body.code, 255);
    }
  });

  test('writes and triggers of both go on while one renames: every write is kept, every trigger runs once', async () => {
    const table = await a.table({ Old: 'String', Seen: 'Number', n: 'Number' });
    await soon(async () => assert.ok(await b.fields(table)));
    const trigger = await a.create('_Trigger', {
      ...{ Name: unique('t'), table, events: ['create'], criteria: { Old: { $regex: '^go' } } },
      actions: [{ type: 'update-object', actionData: { target: 'self', fields: { Seen: { __op: 'Increment', amount: 1 } } } }],
    });
    let name = 'Old';
    let isDone = false;
    const made: string[] = [];
    const writer = async (store: typeof a, offset: number) => {
      for (let n = offset; !isDone; n += 2) {
        const answer = await store.post(table, { n, [name]: `go ${n}` });
        if (answer.status === 201) made.push(answer.body.objectId);
        // Another process may learn of the rename a little later, or earlier, than this test.
        else assert.equal(answer.body.code, 105, answer.text);
      }
    };
    const writers = [writer(a, 0), writer(b, 1)];
    await new Promise((resolve) => setTimeout(resolve, 150));
    const answer = await change(a, table, { Old: rename('New') });
    name = 'New';
    assert.deepEqual([answer.status, answer.body.changed.triggers.length], [200, 1]);
    await new Promise((resolve) => setTimeout(resolve, 150));
    isDone = true;
    await Promise.all(writers);
    await soon(async () => {
      const rows = (await a.call('GET', path(table), { query: { limit: 10_000 } })).body.results;
      assert.deepEqual(rows.map(({ objectId }: any) => objectId).sort(), made.toSorted());
      for (const { New, Old, n, Seen } of rows) assert.deepEqual([New, Old, Seen], [`go ${n}`, undefined, 1]);
    }, 20_000);
    const log = await a.call('GET', path('_syslogTriggers'), {
      query: { where: { triggerId: trigger, error: { $exists: true } } },
    });
    assert.deepEqual(log.body.results, []);
    await a.call('DELETE', path('_Trigger', trigger));
  });

  test('writes of both go on while one changes a type: every acknowledged write is kept, in the new type', async () => {
    const table = await a.table({ F: 'String', n: 'Number' });
    await soon(async () => assert.ok(await b.fields(table)));
    let isDone = false;
    const made = new Map<number, string>();
    const writer = async (store: typeof a, offset: number) => {
      for (let n = offset; !isDone; n += 2) {
        // A String field takes a number as text, so the same body fits before and after.
        const answer = await store.post(table, { n, F: n });
        assert.equal(answer.status, 201, answer.text);
        made.set(n, answer.body.objectId);
      }
    };
    const writers = [writer(a, 0), writer(b, 1)];
    await new Promise((resolve) => setTimeout(resolve, 300));
    const answer = await change(a, table, { F: { __op: 'Retype', type: 'Number' } });
    assert.equal(answer.status, 200, answer.text);
    await new Promise((resolve) => setTimeout(resolve, 150));
    isDone = true;
    await Promise.all(writers);
    for (const store of [a, b])
      await soon(async () => {
        const rows: { n: number; F: unknown }[] = (await store.call('GET', path(table), { query: { limit: 10_000, order: 'n' } }))
          .body.results;
        assert.deepEqual(
          rows.map(({ n, F }) => [n, F]),
          [...made.keys()].sort((x, y) => x - y).map((n) => [n, n]),
        );
      });
  });

  test('both change a type at once: the later one finds the type of the first', async () => {
    for (let round = 0; round < 3; round++) {
      const table = await a.table({ F: 'String' });
      await soon(async () => assert.ok(await b.fields(table)));
      const id = await a.create(table, { F: '1' });
      const [first, second] = await Promise.all([
        change(a, table, { F: { __op: 'Retype', type: 'Number' } }),
        change(b, table, { F: { __op: 'Retype', type: 'Boolean' } }),
      ]);
      assert.deepEqual([first.status, second.status], [200, 200], first.text + second.text);
      // Number, then Boolean; or Boolean, then Number.
      await soon(async () => assert.ok([true, 1].includes((await b.read(table, id)).F)));
    }
  });
});
