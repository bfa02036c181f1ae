/** Successful requests, the order of answers, and items that fail without affecting others. Reference: batch.md#answers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, createEach, date, find, onEachEngine, pointer, type Row, tableName } from '../support/query.ts';

onEachEngine((get) => {
  const send = async (requests: unknown[], more: Row = {}) => {
    const answer = await get().call('POST', '/platform/batch', { body: { requests, ...more } });
    assert.equal(answer.status, 200, answer.text.slice(0, 500));
    assert.equal(answer.body.length, requests.length);
    return answer.body;
  };
  const post = (table: string, body: Row) => ({ method: 'POST', path: `/platform/classes/${table}`, body });
  const put = (table: string, id: string, body: Row) => ({ method: 'PUT', path: `/platform/classes/${table}/${id}`, body });
  const remove = (table: string, id: string) => ({ method: 'DELETE', path: `/platform/classes/${table}/${id}` });

  test('Batch: `[]` returns 200 with `[]`', async () => {
    const answer = await get().call('POST', '/platform/batch', { body: { requests: [] } });
    assert.deepEqual([answer.status, answer.body], [200, []]);
  });
  test('Batch: POST item: {success: {objectId, createdAt}}', async () => {
    const [item] = await send([post(tableName('T'), { n: 1 })]);
    assert.deepEqual(Object.keys(item), ['success']);
    assert.deepEqual(Object.keys(item.success).sort(), ['createdAt', 'objectId']);
    assert.match(item.success.objectId, /^[A-Za-z0-9]{10}$/);
    assert.match(item.success.createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });
  test('Batch: PUT item: {success: {updatedAt, objectId}}', async () => {
    const table = tableName('T');
    const id = await create(get(), table, { n: 1 });
    const [item] = await send([put(table, id, { n: 2 })]);
    assert.deepEqual(Object.keys(item.success).sort(), ['objectId', 'updatedAt']);
    assert.equal((await find(get(), table))[0]?.n, 2);
  });
  test('Batch: PUT item with Increment also carries the new value', async () => {
    const table = tableName('T');
    const id = await create(get(), table, { n: 1 });
    const [item] = await send([put(table, id, { n: { __op: 'Increment', amount: 4 } })]);
    assert.equal(item.success.n, 5);
  });
  test('Batch: DELETE item: {success: {}}', async () => {
    const table = tableName('T');
    const id = await create(get(), table, { n: 1 });
    assert.deepEqual(await send([remove(table, id)]), [{ success: {} }]);
    assert.deepEqual(await find(get(), table), []);
  });
  test('Batch: array in request order, over mixed methods and tables', async () => {
    const [one, two] = [tableName('One'), tableName('Two')];
    const [a, b] = await createEach(get(), one, [{ n: 1 }, { n: 2 }]);
    const answer = await send([
      post(two, { k: 'first' }),
      put(one, a ?? '', { n: 10 }),
      remove(one, b ?? ''),
      post(one, { n: 3 }),
      put(one, 'nowhere', { n: 1 }),
    ]);
    assert.deepEqual(
      answer.map((item: Row) =>
        Object.keys((item.success ?? item.error) as Row)
          .sort()
          .join(),
      ),
      ['createdAt,objectId', 'objectId,updatedAt', '', 'createdAt,objectId', 'code,error'],
    );
    assert.deepEqual((await find(get(), one)).map((row) => row.n).sort(), [10, 3]);
    assert.equal((await find(get(), two))[0]?.objectId, answer[0].success.objectId);
  });
  test('Batch: bodies take Pointer and Date wrappers like the single call', async () => {
    const table = tableName('T');
    const body = { owner: pointer('Owners', 'owner00001'), due: date('2024-06-01T00:00:00.000Z') };
    await send([post(table, body)]);
    const [row] = await find(get(), table);
    assert.deepEqual([row?.owner, row?.due], [body.owner, body.due]);
  });
  test('Batch: more than 50 items: 1,000 pass, answered in request order', async () => {
    const table = tableName('Thousand');
    const answer = await send(Array.from({ length: 1000 }, (_, n) => post(table, { n })));
    assert.equal(answer.filter((item: Row) => item.success).length, 1000);
    const rows = await find(get(), table, { limit: 5000 });
    const byId = new Map(rows.map((row) => [row.objectId, row.n]));
    assert.deepEqual(
      answer.map((item: { success: Row }) => byId.get(item.success.objectId)),
      Array.from({ length: 1000 }, (_, n) => n),
    );
  });
  test('Batch: not a transaction: no rollback, successes stay, and the answer is 200', async () => {
    const table = tableName('T');
    const [id] = await createEach(get(), table, [{ n: 1 }]);
    const answer = await send([
      post(table, { n: 2 }),
      post(table, { n: 'wrong' }),
      put(table, id ?? '', { n: { __op: 'Nonsense' } }),
      post(table, { n: 3 }),
    ]);
    assert.ok(answer[0].success && answer[3].success);
    assert.deepEqual(answer[1], {
      error: { code: 111, error: `schema mismatch for ${table}.n; expected Number but got String` },
    });
    assert.deepEqual(answer[2], { error: { code: 108, error: 'The Nonsense operator is not supported yet.' } });
    assert.deepEqual((await find(get(), table)).map((row) => row.n).sort(), [1, 2, 3]);
  });
  test('Batch: errors of items are those of the single call', async () => {
    const table = tableName('T');
    const id = await create(get(), table, { n: 1 });
    await create(get(), table, { up: pointer(table, id) });
    const answer = await send([
      put(table, 'nowhere', { n: 1 }),
      remove(table, 'nowhere'),
      post(table, { 'a b': 1 }),
      remove(table, id),
      post(table, { objectId: id }),
      post('1bad', { a: 1 }),
    ]);
    assert.deepEqual(
      answer.map((item: { error: Row }) => item.error.code),
      [101, 101, 105, 119, 137, 103],
    );
    assert.equal(answer[0].error.error, 'Object not found.');
    assert.equal(answer[2].error.error, 'Invalid field name: a b');
    assert.equal(answer[3].error.error, `Pointer to Object ${id} exists in table ${table} in key up. Delete is not allowed.`);
  });
  test('Batch: two items on one record both take effect', async () => {
    const table = tableName('T');
    const id = await create(get(), table, { n: 0 });
    await send(Array.from({ length: 20 }, () => put(table, id, { n: { __op: 'Increment', amount: 1 } })));
    assert.equal((await find(get(), table))[0]?.n, 20);
  });
  test('Batch: items that grow the schema in one batch', async () => {
    const table = tableName('Grow');
    const answer = await send([
      post(table, { a: 1 }),
      post(table, { b: 'x' }),
      post(table, { a: 'wrong' }),
      post(table, { c: true }),
    ]);
    assert.deepEqual(
      answer.map((item: Row) => Object.keys(item)[0]),
      ['success', 'success', 'error', 'success'],
    );
    const { fields } = (await get().call('GET', `/platform/schemas/${table}`)).body;
    assert.deepEqual([fields.a.type, fields.b.type, fields.c.type], ['Number', 'String', 'Boolean']);
  });
  test('Batch: a refused item grows nothing', async () => {
    const table = tableName('Grow');
    await create(get(), table, { a: 1 });
    await send([post(table, { a: 'wrong', fresh: 1 })]);
    assert.ok(!('fresh' in (await get().call('GET', `/platform/schemas/${table}`)).body.fields));
  });

  const flags = [
    'dontRunPlatformTriggers',
    'dontUpdatePlatformTimeline',
    'dontRunPlatformTriggersCreate',
    'dontRunPlatformTriggersUpdate',
  ];
  const withFlags = (body: Row): Row => ({ ...body, ...Object.fromEntries(flags.map((flag) => [flag, true])) });
  test('Batch: silencing flags in items are consumed: no field, no column', async () => {
    const table = tableName('Flags');
    const [made] = await send([post(table, withFlags({ n: 1 }))]);
    await send([put(table, made.success.objectId, withFlags({ n: 2 }))]);
    const [row] = await find(get(), table);
    const { fields } = (await get().call('GET', `/platform/schemas/${table}`)).body;
    assert.equal(row?.n, 2);
    for (const flag of flags) assert.ok(!(flag in (row ?? {})) && !(flag in fields), flag);
  });
  test('Batch: request-level flags are ignored silently', async () => {
    const table = tableName('Flags');
    const [item] = await send([post(table, { n: 1 })], { skipTriggers: true, dontRunPlatformTriggers: true, transaction: false });
    assert.ok(item.success);
    assert.equal((await find(get(), table)).length, 1);
  });
  test('Batch: works with an API key as with the master key', async () => {
    const table = tableName('T');
    const answer = await get().call('POST', '/platform/batch', { as: 'apiKey', body: { requests: [post(table, { n: 1 })] } });
    assert.equal(answer.status, 200, answer.text);
    assert.ok(answer.body[0].success);
  });
  test('Batch: credentials in the body', async () => {
    const table = tableName('T');
    const body = { _ApplicationId: get().appId, _MasterKey: get().masterKey, requests: [post(table, { n: 1 })] };
    const response = await fetch(`${get().url}/platform/batch`, { method: 'POST', body: JSON.stringify(body) });
    assert.equal(response.status, 200);
    assert.equal((await find(get(), table)).length, 1);
  });
});
