/** Creating, changing and deleting tables and their fields. Reference: schemas.md#create-a-table, schemas.md#change-a-table. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, create, defineTable, find, onEachEngine, pointer, type Row, tableName } from '../support/query.ts';

const types = ['String', 'Number', 'Boolean', 'Date', 'Array', 'Object', 'File', 'PrivateFile', 'HTML/XML'];
type BadSchema = [sentence: string, body: Row, code: number];

onEachEngine((get) => {
  const send = (method: string, table: string, body?: unknown) => get().call(method, `/platform/schemas/${table}`, { body });
  const fieldsOf = async (table: string) => (await send('GET', table)).body.fields;

  test('Schemas POST: answers the schema record', async () => {
    const table = tableName('T');
    const answer = await send('POST', table, { className: table, fields: { name: { type: 'String' } } });
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual([answer.body.className, answer.body.fields.name.type], [table, 'String']);
    assert.ok('objectId' in answer.body.fields && 'classLevelPermissions' in answer.body);
    assert.deepEqual(answer.body.fields, (await send('GET', table)).body.fields);
  });
  test('Schemas POST: className and fields may be left out of the body', async () => {
    const table = tableName('T');
    assert.equal((await send('POST', table, {})).body.className, table);
  });
  test('Schemas POST: every field type', async () => {
    const table = tableName('T');
    const fields = Object.fromEntries(types.map((type, n) => [`f${n}`, { type }]));
    const answer = await send('POST', table, { fields });
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(
      types.map((_, n) => answer.body.fields[`f${n}`].type),
      types,
    );
  });
  test('Schemas POST: names that differ only by case are different tables and fields', async () => {
    const upper = tableName('Case');
    const lower = upper.toLowerCase();
    await defineTable(get(), upper, { Name: 'String', name: 'Number' });
    await defineTable(get(), lower, { x: 'Boolean' });
    const fields = await fieldsOf(upper);
    assert.deepEqual([fields.Name.type, fields.name.type, (await fieldsOf(lower)).x.type], ['String', 'Number', 'Boolean']);
  });
  test('Schemas POST: an existing class is 103, and stays as it was', async () => {
    const table = tableName('T');
    await defineTable(get(), table, { a: 'String' });
    assertError(await send('POST', table, { fields: { b: { type: 'String' } } }), 400, 103);
    assert.ok(!('b' in (await fieldsOf(table))));
  });
  test('Schemas POST: a className that is not the one of the path is 103', async () => {
    assertError(await send('POST', tableName('T'), { className: tableName('U') }), 400, 103);
  });
  test('Schemas POST without a table in the path: the body names it; without either 135', async () => {
    const table = tableName('T');
    const answer = await get().call('POST', '/platform/schemas', { body: { className: table } });
    assert.deepEqual([answer.status, answer.body.className], [200, table], answer.text);
    assertError(await get().call('POST', '/platform/schemas', { body: {} }), 400, 135);
  });

  test('Schemas PUT: a field that has gone comes back with another type, and is written and found as before', async () => {
    const table = tableName('T');
    await defineTable(get(), table, { n: 'Number' });
    const samples: [type: string, value: unknown, wrong: unknown][] = [
      ['String', 'x', true],
      ['Number', 1.5, true],
      ['Boolean', true, 'x'],
      ['Date', { __type: 'Date', iso: '2026-01-31T09:00:00.000Z' }, 1.5],
      ['Object', { a: 1 }, 'x'],
      ['String', 'x', true],
    ];
    for (const [type, value, wrong] of samples) {
      const added = await send('PUT', table, { fields: { f: { type } } });
      assert.equal(added.status, 200, added.text);
      // Often enough that each connection of a database has prepared the statements.
      for (let time = 0; time < 6; time++) {
        const id = await create(get(), table, { n: time, f: value });
        const found = await find(get(), table, { where: { f: value, objectId: id } });
        assert.deepEqual(
          found.map(({ f }) => f),
          [value],
          `${type} ${time}`,
        );
        const put = await get().call('PUT', `/platform/classes/${table}/${id}`, { body: { f: value } });
        assert.equal(put.status, 200, put.text);
        assertError(await get().call('PUT', `/platform/classes/${table}/${id}`, { body: { f: wrong } }), 400, 111);
      }
      assert.equal((await send('PUT', table, { fields: { f: { __op: 'Delete' } } })).status, 200);
    }
  });

  for (const name of ['1abc', 'a-b', 'a b', 'a.b', 'שם', "x'y", 'x"y', '__proto__'])
    test(`Schemas POST: a table name that breaks the naming rule is 103: ${name}`, async () => {
      assertError(await send('POST', encodeURIComponent(name), {}), 400, 103);
    });
  const bad: BadSchema[] = [
    ['an unknown type', { fields: { f: { type: 'Strange' } } }, 111],
    ['an inherited name as type', { fields: { f: { type: 'constructor' } } }, 111],
    ['a Pointer without targetClass', { fields: { f: { type: 'Pointer' } } }, 135],
    ['a Relation without targetClass', { fields: { f: { type: 'Relation' } } }, 135],
    ['a targetClass that is no table name', { fields: { f: { type: 'Pointer', targetClass: 'a b' } } }, 103],
    ['an invalid field name', { fields: { 'a b': { type: 'String' } } }, 105],
    ['a field name that holds SQL', { fields: { 'a" TEXT, x': { type: 'String' } } }, 105],
    ['a field name that starts with a digit', { fields: { '1a': { type: 'String' } } }, 105],
    ['the field name constructor', { fields: { constructor: { type: 'String' } } }, 105],
    ['the field name className', { fields: { className: { type: 'String' } } }, 105],
    ['the field name length', { fields: { length: { type: 'Number' } } }, 105],
  ];
  for (const [sentence, body, code] of bad)
    test(`Schemas POST and PUT: ${sentence} is ${code}, and leaves no trace`, async () => {
      const table = tableName('T');
      assertError(await send('POST', table, body), 400, code);
      assertError(await send('GET', table), 400, 103);
      await defineTable(get(), table, {});
      const before = await fieldsOf(table);
      assertError(await send('PUT', table, { fields: { good: { type: 'String' }, ...(body.fields as Row) } }), 400, code);
      assert.deepEqual(await fieldsOf(table), before);
    });
  for (const fields of [[], 'x', 5, { f: 'String' }, { f: null }])
    test(`Schemas POST: fields of the wrong form are a 400: ${JSON.stringify(fields)}`, async () => {
      const table = tableName('T');
      assert.equal((await send('POST', table, { fields })).status, 400);
      assertError(await send('GET', table), 400, 103);
    });

  test('Schemas PUT: adds a field and answers the whole schema record', async () => {
    const table = tableName('T');
    await create(get(), table, { a: 1 });
    const answer = await send('PUT', table, { className: table, fields: { b: { type: 'Pointer', targetClass: table } } });
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual([answer.body.fields.a.type, answer.body.fields.b.targetClass], ['Number', table]);
    await create(get(), table, { b: pointer(table, 'nowhere001') });
  });
  test('Schemas PUT: the type of an added field holds for writes', async () => {
    const table = tableName('T');
    await defineTable(get(), table, {});
    await send('PUT', table, { fields: { n: { type: 'Number' } } });
    assertError(
      await get().call('POST', `/platform/classes/${table}`, { body: { n: 'x' } }),
      400,
      111,
      `schema mismatch for ${table}.n; expected Number but got String`,
    );
  });
  test('Schemas PUT: {__op: Delete} removes a field and its data', async () => {
    const table = tableName('T');
    await create(get(), table, { a: 1, b: 'keep' });
    const answer = await send('PUT', table, { fields: { a: { __op: 'Delete' } } });
    assert.equal(answer.status, 200, answer.text);
    assert.ok(!('a' in answer.body.fields));
    assert.ok(!('a' in ((await find(get(), table))[0] ?? {})));
    await send('PUT', table, { fields: { a: { type: 'String' } } });
    const [row] = await find(get(), table);
    assert.ok(row && !('a' in row));
    assert.equal(row.b, 'keep');
    await create(get(), table, { a: 'another type' });
  });
  test('Schemas PUT: deletes a Relation field with its members', async () => {
    const table = tableName('T');
    const id = await create(get(), table, { n: 1 });
    await get().call('PUT', `/platform/classes/${table}/${id}`, {
      body: { r: { __op: 'AddRelation', objects: [pointer(table, id)] } },
    });
    assert.equal((await send('PUT', table, { fields: { r: { __op: 'Delete' } } })).status, 200);
    await send('PUT', table, { fields: { r: { type: 'Relation', targetClass: table } } });
    const where = { $relatedTo: { object: pointer(table, id), key: 'r' } };
    assert.deepEqual(await find(get(), table, { where }), []);
  });
  test('Schemas PUT: adds and deletes in one request', async () => {
    const table = tableName('T');
    await create(get(), table, { old: 1 });
    const { body } = await send('PUT', table, { fields: { fresh: { type: 'Date' }, old: { __op: 'Delete' } } });
    assert.deepEqual(['old' in body.fields, body.fields.fresh.type], [false, 'Date']);
  });
  test('Schemas PUT: an existing field of another type is 255', async () => {
    const table = tableName('T');
    await defineTable(get(), table, { a: 'String' });
    assertError(await send('PUT', table, { fields: { a: { type: 'Number' } } }), 400, 255, /Field a exists, cannot update/);
    assert.equal((await fieldsOf(table)).a.type, 'String');
  });
  test('Schemas PUT: deleting an absent field is 255', async () => {
    const table = tableName('T');
    await defineTable(get(), table, {});
    assertError(await send('PUT', table, { fields: { a: { __op: 'Delete' } } }), 400, 255);
  });
  for (const name of ['objectId', 'createdAt', 'updatedAt', 'ACL', 'createdBy', 'updatedBy'])
    test(`Schemas PUT: the default field ${name} cannot be deleted (136)`, async () => {
      const table = tableName('T');
      await defineTable(get(), table, {});
      assertError(await send('PUT', table, { fields: { [name]: { __op: 'Delete' } } }), 400, 136);
      assert.ok(name in (await fieldsOf(table)));
    });
  test('Schemas PUT: an unknown class is 103', async () => {
    assertError(await send('PUT', tableName('T'), { fields: {} }), 400, 103);
  });
  test('Schemas PUT: a body that is no object is 107', async () => {
    assertError(await send('PUT', '_User', '[1]'), 400, 107);
  });

  test('Schemas DELETE: works on an empty table', async () => {
    const table = tableName('T');
    const id = await create(get(), table, { a: 1 });
    await get().call('DELETE', `/platform/classes/${table}/${id}`);
    const answer = await send('DELETE', table);
    assert.deepEqual([answer.status, answer.body], [200, {}], answer.text);
    assertError(await send('GET', table), 400, 103);
    assert.deepEqual(await find(get(), table), []);
  });
  test('Schemas DELETE: a deleted table can be created again with other types', async () => {
    const table = tableName('T');
    await defineTable(get(), table, { a: 'String' });
    await send('DELETE', table);
    await create(get(), table, { a: 1 });
    assert.equal((await fieldsOf(table)).a.type, 'Number');
  });
  test('Schemas DELETE: a table with records is 255, and keeps them', async () => {
    const table = tableName('T');
    await create(get(), table, { a: 1 });
    assertError(await send('DELETE', table), 400, 255);
    assert.equal((await find(get(), table)).length, 1);
  });
  for (const table of ['_User', '_Role', '_Session', 'Config', '_Dictionary'])
    test(`Schemas DELETE: a system table stays: ${table}`, async () => {
      const answer = await send('DELETE', table);
      assert.ok([400, 403].includes(answer.status), answer.text);
      assert.equal((await send('GET', table)).status, 200);
    });

  for (const method of ['POST', 'PUT', 'DELETE'])
    test(`Schemas ${method}: with the application id only 403 {error: unauthorized: master key is required}`, async () => {
      const table = tableName('T');
      await defineTable(get(), table, { a: 'String' });
      const before = (await send('GET', table)).body;
      const answer = await get().call(method, `/platform/schemas/${table}`, {
        as: 'anonymous',
        body: { fields: { a: { __op: 'Delete' } } },
      });
      assert.deepEqual([answer.status, answer.body], [403, { error: 'unauthorized: master key is required' }]);
      assert.deepEqual((await send('GET', table)).body, before);
    });
  test('Schemas PUT: parallel additions of one field make one field', async () => {
    const table = tableName('T');
    await defineTable(get(), table, {});
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => send('PUT', table, { fields: { same: { type: 'Number' } } })),
    );
    for (const answer of answers) assert.ok(answer.status === 200 || answer.body.code === 255, answer.text);
    assert.equal((await fieldsOf(table)).same.type, 'Number');
    await create(get(), table, { same: 1 });
  });
});
