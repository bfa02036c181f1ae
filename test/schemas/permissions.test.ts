/** Class-level permissions, indexes, textIndex and timeline settings of a schema. Reference: schemas.md#schema-record. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, create, defineTable, find, onEachEngine, type Row, tableName } from '../support/query.ts';

onEachEngine((get) => {
  const send = (method: string, table: string, body?: unknown) => get().call(method, `/platform/schemas/${table}`, { body });
  const full = {
    find: { 'role:Sales': true, requiresAuthentication: true },
    get: { '*': true },
    create: { 'role:Sales': true },
    update: {},
    delete: { 'role:Admin': true },
    addField: {},
  };

  test('Schemas CLP: round trip', async () => {
    const table = tableName('T');
    const made = await send('POST', table, { classLevelPermissions: full });
    assert.equal(made.status, 200, made.text);
    for (const [name, value] of Object.entries(full)) {
      assert.deepEqual(made.body.classLevelPermissions[name], value, name);
      assert.deepEqual((await send('GET', table)).body.classLevelPermissions[name], value, name);
    }
  });
  test('Schemas CLP: the further keys count, protectedFields, readUserFields and writeUserFields', async () => {
    const table = tableName('T');
    await defineTable(get(), table, { secret: 'String', owner: 'Pointer:_User' });
    const more = {
      count: { '*': true },
      protectedFields: { '*': ['secret'] },
      readUserFields: ['owner'],
      writeUserFields: ['owner'],
    };
    const answer = await send('PUT', table, { classLevelPermissions: { ...full, ...more } });
    assert.equal(answer.status, 200, answer.text);
    const stored = (await send('GET', table)).body.classLevelPermissions;
    for (const [name, value] of Object.entries(more)) assert.deepEqual(stored[name], value, name);
  });
  test('Schemas CLP: a PUT without classLevelPermissions leaves them', async () => {
    const table = tableName('T');
    await send('POST', table, { classLevelPermissions: full });
    await send('PUT', table, { fields: { a: { type: 'String' } } });
    assert.deepEqual((await send('GET', table)).body.classLevelPermissions.find, full.find);
  });
  test('Schemas CLP: an operation that is not given is for nobody', async () => {
    const table = tableName('T');
    await send('POST', table, { classLevelPermissions: { find: { '*': true } } });
    const stored = (await send('GET', table)).body.classLevelPermissions;
    for (const name of ['get', 'create', 'update', 'delete']) assert.deepEqual(stored[name], {}, name);
  });
  const bad: [string, unknown][] = [
    ['an unknown operation', { peek: {} }],
    ['an inherited name as operation', JSON.parse('{"constructor":{"*":true}}')],
    ['a value that is not true', { find: { '*': false } }],
    ['a value that is a string', { find: { '*': 'yes' } }],
    ['an operation that is no object', { find: true }],
    ['permissions that are no object', []],
  ];
  for (const [sentence, classLevelPermissions] of bad)
    test(`Schemas CLP: ${sentence} is 107, and changes nothing`, async () => {
      const table = tableName('T');
      await send('POST', table, { classLevelPermissions: full });
      assertError(await send('PUT', table, { classLevelPermissions }), 400, 107);
      assert.deepEqual((await send('GET', table)).body.classLevelPermissions.find, full.find);
    });

  const anonymous = (method: string, path: string, body?: unknown) =>
    get().call(method, `/platform/classes/${path}`, { as: 'anonymous', body });
  test('CLP: an empty map means nobody; keys pass', async () => {
    const table = tableName('T');
    const id = await create(get(), table, { n: 1 });
    assertError(await anonymous('GET', table), 400, 119, new RegExp(`^Permission denied for action find on class ${table}`));
    assertError(
      await anonymous('GET', `${table}/${id}`),
      400,
      119,
      new RegExp(`^Permission denied for action get on class ${table}`),
    );
    for (const as of ['master', 'apiKey'] as const)
      assert.equal((await get().call('GET', `/platform/classes/${table}/${id}`, { as })).status, 200);
  });
  test('CLP: `*` opens an operation to everyone, and only that one', async () => {
    const table = tableName('T');
    const id = await create(get(), table, { n: 1 });
    await send('PUT', table, { classLevelPermissions: { find: { '*': true } } });
    const answer = await anonymous('GET', table);
    assert.deepEqual([answer.status, answer.body.results?.length], [200, 1], answer.text);
    assertError(await anonymous('GET', `${table}/${id}`), 400, 119);
  });
  test('CLP: requiresAuthentication: an anonymous read gets 404 code 101 `user needs to be authenticated`', async () => {
    const table = tableName('T');
    await create(get(), table, { n: 1 });
    await send('PUT', table, { classLevelPermissions: { find: { requiresAuthentication: true } } });
    assertError(await anonymous('GET', table), 404, 101, /user needs to be authenticated/);
  });
  test('CLP: the CAPTCHA gate is checked before permissions, even if create is open to everyone', async () => {
    const table = tableName('T');
    await send('POST', table, { classLevelPermissions: { create: { '*': true }, addField: { '*': true } } });
    assertError(await anonymous('POST', table, { n: 1 }), 400, 119, /^This action is not allowed without a valid CAPTCHA/);
    assert.deepEqual(await find(get(), table), []);
  });
  test('CLP: protectedFields hide a field from everyone but the keys, and it cannot be asked about', async () => {
    const table = tableName('T');
    await create(get(), table, { n: 1, secret: 'x' });
    const open = { find: { '*': true }, get: { '*': true }, protectedFields: { '*': ['secret'] } };
    await send('PUT', table, { classLevelPermissions: open });
    const seen = await anonymous('GET', table);
    assert.equal(seen.status, 200, seen.text);
    assert.ok(!('secret' in seen.body.results[0]) && seen.body.results[0].n === 1);
    assert.equal((await find(get(), table))[0]?.secret, 'x');
    for (const query of [{ where: { secret: 'x' } }, { order: 'secret' }] as Row[]) {
      const asked = await get().call('GET', `/platform/classes/${table}`, { as: 'anonymous', query });
      assert.ok(asked.status === 400, `${JSON.stringify(query)} ${asked.text}`);
    }
  });

  test('Schemas indexes: made, listed and deleted', async () => {
    const table = tableName('T');
    const made = await send('POST', table, {
      fields: { City: { type: 'String' }, n: { type: 'Number' } },
      indexes: { byCity: { City: 1 }, byBoth: { City: 1, n: -1 } },
    });
    assert.equal(made.status, 200, made.text);
    assert.deepEqual([made.body.indexes.byCity, made.body.indexes.byBoth], [{ City: 1 }, { City: 1, n: -1 }]);
    await create(get(), table, { City: 'Haifa', n: 1 });
    const { body } = await send('PUT', table, { indexes: { byCity: { __op: 'Delete' } } });
    assert.ok(!('byCity' in body.indexes) && 'byBoth' in body.indexes);
    assert.equal((await find(get(), table, { where: { City: 'Haifa' }, order: '-n' })).length, 1);
  });
  test('Schemas indexes: added later, over records that are there', async () => {
    const table = tableName('T');
    await create(get(), table, { City: 'Haifa' });
    const answer = await send('PUT', table, { indexes: { byCity: { City: -1 } } });
    assert.equal(answer.status, 200, answer.text);
    assert.equal((await find(get(), table, { order: '-City' })).length, 1);
  });
  const badIndexes: [string, unknown][] = [
    ['of an unknown field', { byNone: { nowhere: 1 } }],
    ['in a direction that is none', { byN: { n: 'x; DROP' } }],
    ['whose deletion finds none', { byNone: { __op: 'Delete' } }],
    ['with a hostile name', { 'x" ON y': { 'n"': 1 } }],
  ];
  for (const [sentence, indexes] of badIndexes)
    test(`Schemas indexes: an index ${sentence} is a 400`, async () => {
      const table = tableName('T');
      await create(get(), table, { n: 1 });
      const answer = await send('PUT', table, { indexes });
      assert.equal(answer.status, 400, answer.text);
      assert.equal((await find(get(), table, { where: { n: 1 } })).length, 1);
    });
  test('Schemas: an indexed field can be deleted', async () => {
    const table = tableName('T');
    await create(get(), table, { n: 1, m: 1 });
    await send('PUT', table, { indexes: { byN: { n: 1 } }, textIndex: [] });
    const answer = await send('PUT', table, { fields: { n: { __op: 'Delete' } } });
    assert.equal(answer.status, 200, answer.text);
    assert.equal((await find(get(), table, { where: { m: 1 } })).length, 1);
  });
  test('Schemas textIndex: the schema does not return which fields have a text index', async () => {
    const table = tableName('T');
    const answer = await send('POST', table, { fields: { body: { type: 'String' } }, textIndex: ['body'] });
    assert.equal(answer.status, 200, answer.text);
    assert.ok(!('textIndex' in answer.body) && !('textIndex' in (await send('GET', table)).body));
  });
  test('Schemas textIndex: an empty list takes the index away', async () => {
    const table = tableName('T');
    await send('POST', table, { fields: { body: { type: 'String' } }, textIndex: ['body'] });
    await create(get(), table, { body: 'words' });
    const where = { body: { $text: { $search: { $term: 'words' } } } };
    assert.equal((await find(get(), table, { where })).length, 1);
    assert.equal((await send('PUT', table, { textIndex: [] })).status, 200);
    assertError(await get().call('GET', `/platform/classes/${table}`, { query: { where } }), 500, 1);
  });
  for (const textIndex of [['nowhere'], ['n'], 'body', [5]])
    test(`Schemas textIndex: only a list of String fields: ${JSON.stringify(textIndex)} is a 400`, async () => {
      const table = tableName('T');
      await create(get(), table, { n: 1, body: 'x' });
      assert.equal((await send('PUT', table, { textIndex })).status, 400);
    });
  test('Schemas timeline: {displayFields: map, index: map}, present once it is on', async () => {
    const table = tableName('T');
    await create(get(), table, { Name: 'x' });
    const timeline = { displayFields: { Name: true }, index: {} };
    const answer = await send('PUT', table, { timeline });
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual([answer.body.timeline, (await send('GET', table)).body.timeline], [timeline, timeline]);
  });
});
