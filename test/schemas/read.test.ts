/** Reading the schema of one table and of all, with and without labels, and the rights that it needs. Reference: schemas.md#read-a-schema. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, create, defineTable, onEachEngine, pointer, type Row, tableName } from '../support/query.ts';

const five = ['find', 'get', 'create', 'update', 'delete'];
const needsKey = { error: 'unauthorized: master key is required' };

onEachEngine((get) => {
  const schema = async (table: string, query: Row = {}) => {
    const answer = await get().call('GET', `/platform/schemas/${table}`, { query });
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };
  const all = async (query: Row = {}) => {
    const answer = await get().call('GET', '/platform/schemas', { query });
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(Object.keys(answer.body), ['results']);
    return answer.body.results as { className: string; fields: Record<string, Row> }[];
  };

  test('Schemas: one table: className, fields and classLevelPermissions', async () => {
    const table = tableName('T');
    await defineTable(get(), table, { name: 'String', up: `Pointer:${table}`, all: `Relation:${table}` });
    const body = await schema(table);
    assert.equal(body.className, table);
    assert.equal(body.fields.name.type, 'String');
    assert.deepEqual([body.fields.up.type, body.fields.up.targetClass], ['Pointer', table]);
    assert.deepEqual([body.fields.all.type, body.fields.all.targetClass], ['Relation', table]);
    assert.equal(typeof body.classLevelPermissions, 'object');
  });
  test('Schemas: targetClass on Pointer and Relation only', async () => {
    const table = tableName('T');
    await defineTable(get(), table, { name: 'String', n: 'Number', a: 'Array' });
    const { fields } = await schema(table);
    for (const name of ['name', 'n', 'a', 'createdAt']) assert.ok(!('targetClass' in fields[name]), name);
  });
  test('Schemas: fields on every record: objectId, createdAt, updatedAt, ACL, createdBy, updatedBy', async () => {
    const table = tableName('T');
    await create(get(), table, {});
    const { fields } = await schema(table);
    const types = ['objectId', 'createdAt', 'updatedAt', 'ACL', 'createdBy', 'updatedBy'].map((name) => fields[name]?.type);
    assert.deepEqual(types, ['String', 'Date', 'Date', 'ACL', 'Pointer', 'Pointer']);
    assert.deepEqual([fields.createdBy.targetClass, fields.updatedBy.targetClass], ['_User', '_User']);
  });
  test('Schemas: fields typed by their first value', async () => {
    const table = tableName('T');
    const file = { __type: 'Date', iso: '2024-01-01T00:00:00.000Z' };
    await create(get(), table, { s: 'x', n: 1, b: true, a: [1], o: { x: 1 }, d: file, p: pointer('Owners', 'owner00001') });
    const { fields } = await schema(table);
    assert.deepEqual(
      ['s', 'n', 'b', 'a', 'o', 'd', 'p'].map((name) => fields[name].type),
      ['String', 'Number', 'Boolean', 'Array', 'Object', 'Date', 'Pointer'],
    );
    assert.equal(fields.p.targetClass, 'Owners');
  });
  test('Schemas: triggers is an array, on per-table schema reads only', async () => {
    const table = tableName('T');
    await defineTable(get(), table, { n: 'Number' });
    assert.deepEqual((await schema(table)).triggers, []);
    assert.ok(!('triggers' in ((await all()).find((each) => each.className === table) ?? { triggers: 1 })));
  });
  test('Schemas: a table without the timeline has no `timeline`', async () => {
    const table = tableName('T');
    await defineTable(get(), table, { n: 'Number' });
    assert.ok(!('timeline' in (await schema(table))));
  });
  test('Schemas: all tables: list of all classes, system classes too', async () => {
    const table = tableName('T');
    await defineTable(get(), table, { n: 'Number' });
    const classes = (await all()).map((each) => each.className);
    for (const name of [table, '_User', '_Role', '_Session', 'Config', '_Dictionary']) assert.ok(classes.includes(name), name);
    assert.equal(new Set(classes).size, classes.length);
  });
  test('Schemas: the class count grows', async () => {
    const before = (await all()).length;
    await create(get(), tableName('T'), { n: 1 });
    await defineTable(get(), tableName('T'), { n: 'Number' });
    assert.equal((await all()).length, before + 2);
  });
  test('Schemas: the list holds the same record as the single read', async () => {
    const table = tableName('T');
    await defineTable(get(), table, { n: 'Number', s: 'String' });
    const { triggers: _, ...one } = await schema(table);
    assert.deepEqual(
      (await all()).find((each) => each.className === table),
      one,
    );
  });
  for (const name of ['Nowhere', 'a b', '1x', '__proto__', 'constructor', "x'; --"])
    test(`Schemas: unknown class returns 400 (103): ${name}`, async () => {
      assertError(await get().call('GET', `/platform/schemas/${encodeURIComponent(name)}`), 400, 103);
    });
  test('Schemas: a system table is read like any other', async () => {
    const { fields } = await schema('_User');
    for (const name of ['username', 'email', 'objectId']) assert.ok(name in fields, name);
  });

  test('Schemas: withDictionary=true adds `dictionary` to each field, from the rows of _Dictionary', async () => {
    const table = tableName('T');
    await defineTable(get(), table, { Name: 'String', n: 'Number' });
    await create(get(), '_Dictionary', { tblName: table, field: 'Name', value: 'שם' });
    await create(get(), '_Dictionary', { tblName: tableName('Other'), field: 'n', value: 'wrong' });
    const one = await schema(table, { withDictionary: 'true' });
    assert.equal(one.fields.Name.dictionary, 'שם');
    assert.notEqual(one.fields.n.dictionary, 'wrong');
    const listed = (await all({ withDictionary: 'true' })).find((each) => each.className === table);
    assert.equal(listed?.fields.Name?.dictionary, 'שם');
  });
  test('Schemas: without withDictionary labels are absent', async () => {
    const table = tableName('T');
    await defineTable(get(), table, { Name: 'String' });
    await create(get(), '_Dictionary', { tblName: table, field: 'Name', value: 'שם' });
    for (const query of [{}, { withDictionary: 'false' }])
      assert.ok(!('dictionary' in (await schema(table, query)).fields.Name), JSON.stringify(query));
    const listed = (await all()).find((each) => each.className === table);
    assert.ok(!('dictionary' in (listed?.fields.Name ?? { dictionary: 1 })));
  });
  test('Schemas: a label that changes is the new label at once, and a deleted one is gone', async () => {
    const table = tableName('T');
    await defineTable(get(), table, { Name: 'String' });
    const id = await create(get(), '_Dictionary', { tblName: table, field: 'Name', value: 'one' });
    await get().call('PUT', `/platform/classes/_Dictionary/${id}`, { body: { value: 'two' } });
    assert.equal((await schema(table, { withDictionary: 'true' })).fields.Name.dictionary, 'two');
    await get().call('DELETE', `/platform/classes/_Dictionary/${id}`);
    assert.notEqual((await schema(table, { withDictionary: 'true' })).fields.Name.dictionary, 'two');
  });

  test('Resources: a table created through raw REST starts with an empty CLP', async () => {
    const [first, second] = [tableName('T'), tableName('T')];
    await create(get(), first, { n: 1 });
    await defineTable(get(), second, { n: 'Number' });
    for (const table of [first, second]) {
      const { classLevelPermissions } = await schema(table);
      for (const name of five) assert.deepEqual(classLevelPermissions[name], {}, `${table} ${name}`);
    }
  });

  for (const path of ['/platform/schemas', '/platform/schemas/_User', '/platform/schemas/Nowhere'])
    test(`Schemas: credentials on GET ${path}: with the application id only 403 {error: unauthorized: master key is required}`, async () => {
      const answer = await get().call('GET', path, { as: 'anonymous' });
      assert.deepEqual([answer.status, answer.body], [403, needsKey]);
    });
  test('Schemas: a wrong key gets the same 403, and so does a key under the wrong header name', async () => {
    const { masterKey, apiKey } = get();
    for (const headers of [
      { 'X-Platform-Master-Key': 'wrong' },
      { 'X-Platform-Master-Key': apiKey },
      { 'X-Platform-API-Key': masterKey },
    ] as Record<string, string>[]) {
      const answer = await get().call('GET', '/platform/schemas', { as: 'anonymous', headers });
      assert.deepEqual([answer.status, answer.body], [403, needsKey], JSON.stringify(headers));
    }
  });
  test('Schemas: the list also answers with a slash at the end, as Parse clients ask for it', async () => {
    const tables = (await all()).map(({ className }) => className);
    const answers = [
      await get().call('GET', '/platform/schemas/'),
      await get().call('POST', '/platform/schemas/', { body: { _method: 'GET' } }),
    ];
    for (const answer of answers)
      assert.deepEqual(
        answer.body.results.map(({ className }: { className: string }) => className),
        tables,
        answer.text,
      );
  });

  test('Schemas: reads need a master key or an API key', async () => {
    for (const as of ['master', 'apiKey'] as const)
      for (const path of ['/platform/schemas', '/platform/schemas/_User'])
        assert.equal((await get().call('GET', path, { as })).status, 200, `${as} ${path}`);
  });
  test('Schemas: without an application id 403 {error: unauthorized}', async () => {
    const response = await fetch(`${get().url}/platform/schemas`, { headers: { 'X-Platform-Master-Key': get().masterKey } });
    assert.deepEqual([response.status, await response.json()], [403, { error: 'unauthorized' }]);
  });
});
