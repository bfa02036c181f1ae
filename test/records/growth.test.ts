import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertRefused, date, type Json, mismatch, pointer, unique, useStore } from '../support/records.ts';
import { engines } from '../support/service.ts';

const link = pointer('Targets', 'abcdefghij');

/** First value, the type that it gives the column, a value that then conflicts, and the type of that value. */
const typings: [unknown, string, unknown, string][] = [
  ['a', 'String', true, 'Boolean'],
  ['', 'String', [1], 'Array'],
  [5, 'Number', 'a', 'String'],
  [0, 'Number', true, 'Boolean'],
  [false, 'Boolean', 0, 'Number'],
  [date('2024-01-01T00:00:00.000Z'), 'Date', 'a', 'String'],
  [link, 'Pointer<Targets>', pointer('Others', 'abcdefghij'), 'Pointer<Others>'],
  [[], 'Array', {}, 'Object'],
  [{}, 'Object', [], 'Array'],
  [{ __op: 'Increment', amount: 1 }, 'Number', 'a', 'String'],
  [{ __op: 'Add', objects: ['a'] }, 'Array', 'a', 'String'],
  [{ __op: 'AddUnique', objects: ['a'] }, 'Array', 5, 'Number'],
  [{ __op: 'AddRelation', objects: [link] }, 'Relation<Targets>', 'a', 'String'],
];

const spelled = ({ type, targetClass }: Json): string => (targetClass ? `${type}<${targetClass}>` : type);

for (const engine of engines)
  describe(engine, () => {
    const store = useStore(engine);

    for (const [value, type, conflicting, got] of typings) {
      const name = JSON.stringify(value);
      test(`Records/Create: an unknown field adds the column, typed by its first value (${name} is ${type})`, async () => {
        const table = await store.table();
        await store.create(table, { Fresh: value });
        assert.equal(spelled((await store.fields(table)).Fresh), type);
        assertRefused(await store.post(table, { Fresh: conflicting }), mismatch(table, 'Fresh', type, got));
        assert.equal(spelled((await store.fields(table)).Fresh), type);
        assert.equal((await store.all(table)).length, 1);
      });

      test(`Records/Update: an unknown field adds the column, typed by its first value (${name} is ${type})`, async () => {
        const table = await store.table();
        const id = await store.create(table, {});
        await store.update(table, id, { Fresh: value });
        assert.equal(spelled((await store.fields(table)).Fresh), type);
        assertRefused(await store.put(table, id, { Fresh: conflicting }), mismatch(table, 'Fresh', type, got));
      });
    }

    test('Limits: a type is fixed after its first value, also once every value is gone', async () => {
      const table = await store.table();
      const id = await store.create(table, { Fresh: 5 });
      await store.remove(table, id);
      assertRefused(await store.post(table, { Fresh: 'a' }), mismatch(table, 'Fresh', 'Number', 'String'));
    });

    test('Records: multi-select fields array_<purpose>_Pointer_<Table> are Arrays of Pointers', async () => {
      const table = await store.table();
      const id = await store.create(table, { array_languages_Pointer_Languages: [link] });
      assert.equal((await store.fields(table)).array_languages_Pointer_Languages.type, 'Array');
      assert.deepEqual((await store.read(table, id)).array_languages_Pointer_Languages, [link]);
    });

    test('Records: records from before a new column read without it', async () => {
      const table = await store.table();
      const old = await store.create(table, { A: 'a' });
      const before = await store.read(table, old);
      await store.create(table, { A: 'b', Fresh: 5 });
      assert.deepEqual(await store.read(table, old), before);
    });

    for (const as of ['master', 'apiKey'] as const) {
      test(`Records: first write by the ${as} creates the table, with an empty CLP`, async () => {
        const table = unique('T');
        const id = await store.create(table, { Name: 'a' }, { as });
        assert.equal((await store.read(table, id)).Name, 'a');
        const { body } = await store.call('GET', `/platform/schemas/${table}`);
        for (const key of ['find', 'get', 'create', 'update', 'delete'])
          assert.deepEqual(body.classLevelPermissions[key], {}, key);
      });

      test(`Records: an unknown field by the ${as} adds the column`, async () => {
        const table = await store.table();
        await store.create(table, { Fresh: 1 }, { as });
        assert.equal((await store.fields(table)).Fresh.type, 'Number');
      });
    }

    test('Records: a first write that is refused leaves no table', async () => {
      for (const body of [{ 'a b': 1 }, { A: { __op: 'Frobnicate' } }, { A: { 'x.y': 1 } }]) {
        const table = unique('T');
        assert.equal((await store.post(table, body)).status, 400);
        assert.equal(await store.fields(table), undefined);
      }
    });

    test('Records: names that differ only by case are two fields', async () => {
      const table = await store.table();
      const sent = { Name: 'upper', name: 5, NAME: true, nAME: [1] };
      const id = await store.create(table, sent);
      const { Name, name, NAME, nAME } = await store.read(table, id);
      assert.deepEqual({ Name, name, NAME, nAME }, sent);
      await store.update(table, id, { name: 6 });
      const after = await store.read(table, id);
      assert.deepEqual([after.Name, after.name], ['upper', 6]);
      const { body } = await store.call('GET', `/platform/classes/${table}`, { query: { where: { name: 6 }, order: 'Name' } });
      assert.equal(body.results.length, 1);
    });

    test('Records: fields that differ from the default ones only by case are fields of their own', async () => {
      const table = await store.table();
      const sent = { objectid: 'a', OBJECTID: 5, createdat: 'b', acl: 'c', createdby: 'd', UpdatedAt: 'e' };
      const id = await store.create(table, sent);
      const { objectid, OBJECTID, createdat, acl, createdby, UpdatedAt, objectId, ACL } = await store.read(table, id);
      assert.deepEqual({ objectid, OBJECTID, createdat, acl, createdby, UpdatedAt }, sent);
      assert.deepEqual([objectId, ACL], [id, {}]);
    });

    test('Records: table names that differ only by case are two tables', async () => {
      const name = unique('Tags');
      await store.create(name, { A: 'upper' });
      await store.create(name.toLowerCase(), { A: 5, B: 1 });
      assert.deepEqual(
        (await store.all(name)).map((row) => row.A),
        ['upper'],
      );
      assert.deepEqual(
        (await store.all(name.toLowerCase())).map((row) => row.A),
        [5],
      );
      assert.equal((await store.fields(name)).B, undefined);
      assert.deepEqual(await store.all(name.toUpperCase()), []);
    });

    const words = [
      'select',
      'order',
      'table',
      'group',
      'index',
      'rowid',
      'oid',
      'id',
      'key',
      'value',
      'json',
      'data',
      'values',
      'user',
    ];
    const members = ['toString', 'valueOf', 'hasOwnProperty', 'toJSON', 'then', 'where', 'limit', 'keys', 'include'];
    test('Records: words of SQL, of JavaScript and of the interface are plain field names', async () => {
      const table = await store.table();
      const sent = Object.fromEntries([...words, ...members].map((name, n) => [name, n]));
      const id = await store.create(table, sent);
      const record = await store.read(table, id);
      for (const [name, n] of Object.entries(sent)) assert.equal(record[name], n, name);
      await store.update(table, id, { rowid: 100, order: 200 });
      const { body } = await store.call('GET', `/platform/classes/${table}`, {
        query: { where: { rowid: 100, select: 0 }, order: '-order' },
      });
      assert.equal(body.results[0]?.order, 200);
    });

    for (const name of [
      'Order',
      'select',
      'sqlite_master',
      'sqlite_x',
      'pg_class',
      'toString',
      'hasOwnProperty',
      '_Own1',
      'A_1',
      'temp',
      'main',
    ])
      test(`Records: ${name} is a plain table name`, async () => {
        const table = name === 'A_1' ? unique('A_') : name;
        const id = await store.create(table, { Name: 'a' });
        assert.equal((await store.read(table, id)).Name, 'a');
        assert.equal((await store.all(table)).length, 1);
        assert.equal((await store.remove(table, id)).status, 200);
      });

    // PostgreSQL holds 8 KB of numbers and short texts in a record. Reference: postgresql.md#differences.
    const wide = engine === 'sqlite' ? 1000 : 600;
    test(`Records: ${wide} fields in a table: written, read, changed, listed and found`, async () => {
      const table = unique('Wide');
      const name = (n: number) => `Field_${n}`;
      const sent = Object.fromEntries(Array.from({ length: wide }, (_, n) => [name(n), n % 2 ? n : `text ${n}`]));
      const id = await store.create(table, sent);
      await store.update(
        table,
        id,
        Object.fromEntries(Array.from({ length: wide }, (_, n) => [name(n), n % 2 ? n + 1 : `new ${n}`])),
      );
      const record = await store.read(table, id);
      for (let n = 0; n < wide; n++) assert.equal(record[name(n)], n % 2 ? n + 1 : `new ${n}`);
      assert.deepEqual(await store.all(table), [record]);
      const { body } = await store.call('GET', `/platform/classes/${table}`, {
        query: { where: { [name(wide - 1)]: wide }, count: 1 },
      });
      assert.deepEqual([body.results.length, body.count], [1, 1]);
      await store.create(table, { [name(wide)]: 'one more' });
    });
  });
