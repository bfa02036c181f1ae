import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertRefused, date, type Json, master, pointer, unique, useStore } from '../support/records.ts';
import { engines } from '../support/service.ts';

const isoWithMilliseconds = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

for (const engine of engines)
  describe(engine, () => {
    const store = useStore(engine);

    test('Records/Create: 201 {objectId, createdAt} and nothing else', async () => {
      const table = await store.table({ Name: 'String' });
      const answer = await store.post(table, { Name: 'a' });
      assert.equal(answer.status, 201, answer.text);
      assert.deepEqual(Object.keys(answer.body).sort(), ['createdAt', 'objectId']);
      assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
    });

    test('Fields on every record/objectId: server-generated, 10 characters, never twice the same', async () => {
      const table = await store.table();
      const ids = await Promise.all(Array.from({ length: 60 }, () => store.create(table, {})));
      for (const id of ids) assert.match(id, /^[A-Za-z0-9]{10}$/);
      assert.equal(new Set(ids).size, 60);
    });

    test('Fields on every record/createdAt, updatedAt: server-set, bare ISO strings with milliseconds and Z', async () => {
      const table = await store.table();
      const before = Date.now();
      const { body } = await store.post(table, {});
      const record = await store.read(table, body.objectId);
      assert.match(record.createdAt, isoWithMilliseconds);
      assert.equal(record.createdAt, body.createdAt);
      assert.equal(record.updatedAt, record.createdAt);
      assert.ok(Date.parse(record.createdAt) >= before - 1000 && Date.parse(record.createdAt) <= Date.now() + 1000);
    });

    test('Fields on every record: objectId, createdAt, updatedAt, ACL, createdBy, updatedBy, beside those sent', async () => {
      const table = await store.table({ Name: 'String', Total: 'Number' });
      const record = await store.read(table, await store.create(table, { Name: 'a' }));
      const expected = ['ACL', 'Name', 'createdAt', 'createdBy', 'objectId', 'updatedAt', 'updatedBy'];
      assert.deepEqual(Object.keys(record).sort(), expected);
      assert.deepEqual(record.ACL, {});
    });

    test('Fields on every record: the schema of a table names them with their types', async () => {
      const fields = await store.fields(await store.table());
      const types = {
        objectId: 'String',
        createdAt: 'Date',
        updatedAt: 'Date',
        ACL: 'ACL',
        createdBy: 'Pointer',
        updatedBy: 'Pointer',
      };
      for (const [name, type] of Object.entries(types)) assert.equal(fields[name]?.type, type, name);
      assert.equal(fields.createdBy.targetClass, '_User');
      assert.equal(fields.updatedBy.targetClass, '_User');
    });

    for (const as of ['master', 'apiKey'] as const)
      test(`Fields on every record/createdBy, updatedBy: a write with the ${as} is by the master dummy user`, async () => {
        const table = await store.table();
        const record = await store.read(table, await store.create(table, {}, { as }));
        assert.deepEqual(record.createdBy, master);
        assert.deepEqual(record.updatedBy, master);
      });

    const ignored: [string, unknown][] = [
      ['createdAt', '2001-01-01T00:00:00.000Z'],
      ['createdAt', date('2001-01-01T00:00:00.000Z')],
      ['createdAt', 5],
      ['createdAt', null],
      ['updatedAt', '2001-01-01T00:00:00.000Z'],
      ['updatedAt', date('2001-01-01T00:00:00.000Z')],
      ['updatedAt', { __op: 'Delete' }],
      ['createdBy', pointer('_User', 'abcdefghij')],
      ['createdBy', 'somebody'],
      ['updatedBy', pointer('_User', 'abcdefghij')],
      ['updatedBy', null],
    ];
    for (const [name, value] of ignored)
      test(`Records/Create: ${name} in a body is ignored (${JSON.stringify(value)})`, async () => {
        const table = await store.table({ Name: 'String' });
        const record = await store.read(table, await store.create(table, { Name: 'kept', [name]: value }));
        assert.equal(record.Name, 'kept');
        assert.ok(Date.now() - Date.parse(record.createdAt) < 60_000);
        assert.ok(Date.now() - Date.parse(record.updatedAt) < 60_000);
        assert.deepEqual(record.createdBy, master);
        assert.deepEqual(record.updatedBy, master);
      });

    test('Records/Create: an empty object makes a record with the default fields only', async () => {
      const table = await store.table({ Name: 'String' });
      const record = await store.read(table, await store.create(table, {}));
      assert.equal(Object.hasOwn(record, 'Name'), false);
    });

    test('Records: a field that is null or absent is left out of the answer', async () => {
      const table = await store.table({ A: 'String', B: 'Number', C: 'Object' });
      const id = await store.create(table, { A: null, B: 0 });
      const record = await store.read(table, id);
      assert.equal(Object.hasOwn(record, 'A'), false);
      assert.equal(record.B, 0);
      const [listed] = await store.all(table);
      assert.deepEqual(listed, record);
    });

    test('Records: null does not add a column', async () => {
      const table = await store.table();
      const id = await store.create(table, { Unknown: null });
      await store.update(table, id, { Other: null });
      const fields = await store.fields(table);
      assert.equal(fields.Unknown, undefined);
      assert.equal(fields.Other, undefined);
    });

    test('Records: the platform does not enforce uniqueness of PhoneNumber or Email', async () => {
      const table = await store.table({ PhoneNumber: 'String', Email: 'String' });
      const twin = { PhoneNumber: '0501234567', Email: 'a@example.com' };
      assert.notEqual(await store.create(table, twin), await store.create(table, twin));
      assert.equal((await store.all(table)).length, 2);
    });

    test('Authentication/API key: everything, as the master identity', async () => {
      const table = await store.table({ Name: 'String' });
      const as = 'apiKey';
      const id = await store.create(table, { Name: 'a' }, { as });
      assert.equal((await store.put(table, id, { Name: 'b' }, { as })).status, 200);
      assert.equal((await store.get(table, id, { as })).body.Name, 'b');
      assert.equal((await store.remove(table, id, { as })).status, 200);
    });

    test('Records: records of two tables do not mix', async () => {
      const [one, two] = [await store.table({ Name: 'String' }), await store.table({ Name: 'String' })];
      const id = await store.create(one, { Name: 'a' });
      assertRefused(await store.get(two, id), { code: 101, error: 'Object not found.' });
      assert.deepEqual(await store.all(two), []);
    });

    test('Records: without order, records come in the order of creation', async () => {
      const table = unique('T');
      for (let n = 0; n < 12; n++) await store.create(table, { n });
      assert.deepEqual(
        (await store.all(table)).map((row: Json) => row.n),
        Array.from({ length: 12 }, (_, n) => n),
      );
    });
  });
