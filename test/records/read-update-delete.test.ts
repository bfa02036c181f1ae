import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertRefused, date, master, pointer, unique, useStore } from '../support/records.ts';
import { engines } from '../support/service.ts';

const notFound = { status: 404, code: 101, error: 'Object not found.' };

for (const engine of engines)
  describe(engine, () => {
    const store = useStore(engine);

    test('Records/Read one: full record, equal to the one in a query', async () => {
      const table = await store.table({ Name: 'String', Total: 'Number' });
      const id = await store.create(table, { Name: 'a', Total: 5 });
      const record = await store.read(table, id);
      assert.equal(record.objectId, id);
      assert.equal(record.Name, 'a');
      assert.deepEqual(await store.all(table), [record]);
    });

    test('Records/Update: only changed fields; the others stay', async () => {
      const table = await store.table({ A: 'String', B: 'Number', C: 'Object' });
      const id = await store.create(table, { A: 'a', B: 1, C: { x: 1 } });
      await store.update(table, id, { B: 2 });
      const { A, B, C } = await store.read(table, id);
      assert.deepEqual({ A, B, C }, { A: 'a', B: 2, C: { x: 1 } });
    });

    test('Records/Update: {updatedAt, objectId} and nothing else', async () => {
      const table = await store.table({ A: 'String', B: 'Array' });
      const id = await store.create(table, { A: 'a' });
      const answer = await store.update(table, id, { A: 'b', B: [1] });
      assert.deepEqual(Object.keys(answer).sort(), ['objectId', 'updatedAt']);
      assert.equal(answer.objectId, id);
      assert.equal((await store.read(table, id)).updatedAt, answer.updatedAt);
    });

    test('Records/Update: updatedAt moves, createdAt and createdBy stay', async () => {
      const table = await store.table({ A: 'String' });
      const id = await store.create(table, { A: 'a' });
      const before = await store.read(table, id);
      await sleep(5);
      await store.update(table, id, { A: 'b' });
      const after = await store.read(table, id);
      assert.equal(after.createdAt, before.createdAt);
      assert.deepEqual(after.createdBy, master);
      assert.ok(after.updatedAt > before.updatedAt);
    });

    for (const [name, value] of Object.entries({
      createdAt: date('2001-01-01T00:00:00.000Z'),
      updatedAt: '2001-01-01T00:00:00.000Z',
      createdBy: pointer('_User', 'abcdefghij'),
      updatedBy: null,
    }))
      test(`Records/Update: ${name} in a body is ignored`, async () => {
        const table = await store.table({ A: 'String' });
        const id = await store.create(table, { A: 'a' });
        const before = await store.read(table, id);
        await store.update(table, id, { A: 'b', [name]: value });
        const after = await store.read(table, id);
        assert.equal(after.A, 'b');
        assert.equal(after.createdAt, before.createdAt);
        assert.ok(after.updatedAt >= before.updatedAt);
        assert.deepEqual([after.createdBy, after.updatedBy], [master, master]);
      });

    test('Records/Update: an empty object answers {updatedAt, objectId} and changes no field', async () => {
      const table = await store.table({ A: 'String' });
      const id = await store.create(table, { A: 'a' });
      assert.deepEqual(Object.keys(await store.update(table, id, {})).sort(), ['objectId', 'updatedAt']);
      assert.equal((await store.read(table, id)).A, 'a');
    });

    const values: [string, unknown][] = [
      ['String', 'a'],
      ['Number', 5],
      ['Boolean', true],
      ['Date', date('2024-01-02T03:04:05.006Z')],
      ['Pointer', pointer('Targets', 'abcdefghij')],
      ['Array', [1]],
      ['Object', { a: 1 }],
      ['HTML/XML', '<b>a</b>'],
    ];
    for (const [type, value] of values)
      test(`Records: null in a body clears a ${type} field, like {__op: Delete}`, async () => {
        const field = type === 'Pointer' ? { type, targetClass: 'Targets' } : type;
        const table = await store.table({ A: field, B: field });
        const id = await store.create(table, { A: value, B: value });
        await store.update(table, id, { A: null, B: { __op: 'Delete' } });
        const record = await store.read(table, id);
        assert.equal(Object.hasOwn(record, 'A') || Object.hasOwn(record, 'B'), false);
        await store.update(table, id, { A: value });
        assert.deepEqual((await store.read(table, id)).A, value);
      });

    test('Records/Delete: 200 {}, and a later read, update or delete is 404 code 101', async () => {
      const table = await store.table({ A: 'String' });
      const id = await store.create(table, { A: 'a' });
      const answer = await store.remove(table, id);
      assert.equal(answer.status, 200, answer.text);
      assert.deepEqual(answer.body, {});
      assertRefused(await store.get(table, id), notFound);
      assertRefused(await store.put(table, id, { A: 'b' }), notFound);
      assertRefused(await store.remove(table, id), notFound);
      assert.deepEqual(await store.all(table), []);
    });

    test('Records/Delete: the other records stay', async () => {
      const table = await store.table({ A: 'String' });
      const [one, two] = [await store.create(table, { A: 'a' }), await store.create(table, { A: 'b' })];
      await store.remove(table, one);
      assert.deepEqual(
        (await store.all(table)).map(({ objectId }) => objectId),
        [two],
      );
    });

    test('Records: read one, update, delete of an id that does not exist: 404 code 101 `Object not found.`', async () => {
      const table = await store.table({ A: 'String' });
      assertRefused(await store.get(table, 'abcdefghij'), notFound);
      assertRefused(await store.put(table, 'abcdefghij', { A: 'a' }), notFound);
      assertRefused(await store.remove(table, 'abcdefghij'), notFound);
      assert.deepEqual(await store.all(table), []);
    });

    test('Records: a missing table on read one, update, delete: 404 code 101, and no table appears', async () => {
      const table = unique('Missing');
      assertRefused(await store.get(table, 'abcdefghij'), notFound);
      assertRefused(await store.put(table, 'abcdefghij', { A: 'a' }), notFound);
      assertRefused(await store.remove(table, 'abcdefghij'), notFound);
      assert.equal(await store.fields(table), undefined);
    });

    test('Records/Query: a table that does not exist returns 200 with an empty result list, and does not appear', async () => {
      const table = unique('Missing');
      assert.deepEqual(await store.all(table), []);
      assert.equal(await store.fields(table), undefined);
    });

    test('Records/Update: an update of a missing record adds no column', async () => {
      const table = await store.table();
      assertRefused(await store.put(table, 'abcdefghij', { Fresh: 1 }), notFound);
      assert.equal((await store.fields(table)).Fresh, undefined);
    });
  });
