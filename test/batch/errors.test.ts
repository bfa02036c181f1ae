/** Errors of the whole request, errors of single items, and the rights that a batch needs. Reference: batch.md#request, batch.md#batch-limits. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, create, find, onEachEngine, tableName } from '../support/query.ts';

const lost = 'Cannot convert undefined or null to object';

onEachEngine((get) => {
  const send = (requests: unknown) => get().call('POST', '/platform/batch', { body: { requests } });

  for (const path of [
    '/classes/Tasks',
    'classes/Tasks',
    '/other/classes/Tasks',
    '/platformx/classes/Tasks',
    '/functions/x/getlead',
  ])
    test(`Batch errors: path without the prefix: 107 \`cannot route batch path ${path}\``, async () => {
      assertError(await send([{ method: 'POST', path, body: {} }]), 400, 107, `cannot route batch path ${path}`);
    });

  for (const [sentence, body] of [
    ['`requests` missing', {}],
    ['`requests` an object', { requests: {} }],
    ['`requests` a string', { requests: '[]' }],
    ['`requests` null', { requests: null }],
  ] as const)
    test(`Batch errors: ${sentence}: 107 \`requests must be an array\``, async () => {
      assertError(await get().call('POST', '/platform/batch', { body }), 400, 107, 'requests must be an array');
    });

  for (const method of ['PATCH', 'HEAD', 'OPTIONS', 'FOO', 'constructor'])
    test(`Batch errors: method ${method}: 107 \`cannot route ${method} <path>\``, async () => {
      const path = '/platform/classes/Tasks';
      assertError(await send([{ method, path, body: {} }]), 400, 107, `cannot route ${method} ${path}`);
    });

  for (const [method, path] of [
    ['POST', '/platform/nothing'],
    ['PUT', '/platform/classes/Tasks'],
    ['DELETE', '/platform/classes/Tasks'],
    ['POST', '/platform/classes/Tasks/abc/def'],
    ['POST', '/platform/batch'],
  ] as const)
    test(`Batch errors: no such route: 107 \`cannot route ${method} ${path}\``, async () => {
      assertError(await send([{ method, path, body: {} }]), 400, 107, `cannot route ${method} ${path}`);
    });

  for (const bad of [
    { method: 'POST', path: '/classes/Tasks', body: {} },
    { method: 'PATCH', path: '/platform/classes/Tasks', body: {} },
    { method: 'POST', path: '/platform/batch', body: { requests: [] } },
  ])
    test(`Batch errors: routes are checked before any item runs: ${bad.method} ${bad.path} leaves no trace`, async () => {
      const table = tableName('Trace');
      const good = { method: 'POST', path: `/platform/classes/${table}`, body: { n: 1 } };
      assertError(await send([good, good, bad]), 400, 107);
      assert.deepEqual(await find(get(), table), []);
      assertError(await get().call('GET', `/platform/schemas/${table}`), 400, 103);
    });

  test('at most 50 items of a batch are logins; more are 107, and none runs', async () => {
    const item = { method: 'POST', path: '/platform/login', body: { username: 'nobody' } };
    const answer = await send(Array.from({ length: 50 }, () => item));
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.body, Array(50).fill({ error: { code: 201, error: 'password is required' } }));
    const table = tableName('Trace');
    const good = { method: 'POST', path: `/platform/classes/${table}`, body: { n: 1 } };
    const refused = await send([good, ...Array.from({ length: 51 }, () => item)]);
    assertError(refused, 400, 107, 'cannot route POST /platform/login');
    assert.deepEqual(await find(get(), table), []);
  });

  test('Batch errors: GET item: 200, item error without code', async () => {
    const table = tableName('T');
    const id = await create(get(), table, { n: 1 });
    const answer = await send([
      { method: 'GET', path: `/platform/classes/${table}` },
      { method: 'GET', path: `/platform/classes/${table}/${id}` },
    ]);
    assert.deepEqual([answer.status, answer.body], [200, [{ error: { error: lost } }, { error: { error: lost } }]]);
  });
  test('Batch errors: POST item without body: 200, the same item error, others run', async () => {
    const table = tableName('T');
    const path = `/platform/classes/${table}`;
    const answer = await send([
      { method: 'POST', path },
      { method: 'POST', path, body: null },
      { method: 'POST', path, body: { n: 1 } },
    ]);
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(answer.body.slice(0, 2), [{ error: { error: lost } }, { error: { error: lost } }]);
    assert.ok(answer.body[2].success);
    assert.equal((await find(get(), table)).length, 1);
  });
  test('Batch errors: PUT item without body: the same item error', async () => {
    const table = tableName('T');
    const id = await create(get(), table, { n: 1 });
    const answer = await send([{ method: 'PUT', path: `/platform/classes/${table}/${id}` }]);
    assert.deepEqual([answer.status, answer.body], [200, [{ error: { error: lost } }]]);
  });
  test('Batch: DELETE item needs no body', async () => {
    const table = tableName('T');
    const id = await create(get(), table, { n: 1 });
    assert.deepEqual((await send([{ method: 'DELETE', path: `/platform/classes/${table}/${id}` }])).body, [{ success: {} }]);
  });

  for (const item of [null, 5, 'x', [], {}, { method: 'POST' }, { path: '/platform/classes/T' }, { method: 5, path: 7 }])
    test(`Batch errors: an item that is no request is a 400, never a fault: ${JSON.stringify(item)}`, async () => {
      assertError(await send([item]), 400, 107);
    });
  for (const body of ['text', 5, [1]])
    test(`Batch errors: an item's body that is no object fails that item only: ${JSON.stringify(body)}`, async () => {
      const table = tableName('T');
      const path = `/platform/classes/${table}`;
      const answer = await send([
        { method: 'POST', path, body },
        { method: 'POST', path, body: { n: 1 } },
      ]);
      assert.equal(answer.status, 200, answer.text);
      assert.ok(answer.body[0].error, answer.text);
      assert.equal((await find(get(), table)).length, 1);
    });

  const captcha = 'This action is not allowed without a valid CAPTCHA';
  test('Batch: every item is authorised on its own: anonymous items meet the CAPTCHA text', async () => {
    const table = tableName('T');
    const id = await create(get(), table, { n: 1 });
    const path = `/platform/classes/${table}`;
    const answer = await get().call('POST', '/platform/batch', {
      as: 'anonymous',
      body: {
        requests: [
          { method: 'POST', path, body: { n: 2 } },
          { method: 'PUT', path: `${path}/${id}`, body: { n: 3 } },
          { method: 'DELETE', path: `${path}/${id}` },
        ],
      },
    });
    assert.equal(answer.status, 200, answer.text);
    for (const item of answer.body) {
      assert.equal(item.error?.code, 119, answer.text);
      assert.ok(item.error.error.startsWith(captcha), answer.text);
    }
    assert.deepEqual(
      (await find(get(), table)).map((row) => row.n),
      [1],
    );
  });
  test('Batch: a wrong key is refused with 119 in every item, or as a whole', async () => {
    const table = tableName('T');
    const answer = await get().call('POST', '/platform/batch', {
      as: 'anonymous',
      headers: { 'X-Platform-API-Key': get().masterKey },
      body: { requests: [{ method: 'POST', path: `/platform/classes/${table}`, body: { n: 1 } }] },
    });
    const error = answer.status === 200 ? answer.body[0].error : answer.body;
    assert.equal(error.code, 119, answer.text);
    assert.match(error.error, /^Permission denied for action/);
    assert.deepEqual(await find(get(), table), []);
  });
  test('Batch: without an application id: 403 {error: unauthorized}', async () => {
    const response = await fetch(`${get().url}/platform/batch`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Platform-Master-Key': get().masterKey },
      body: JSON.stringify({ requests: [] }),
    });
    assert.deepEqual([response.status, await response.json()], [403, { error: 'unauthorized' }]);
  });
  test('Batch: keys that mean something to JavaScript in an item are refused there', async () => {
    const table = tableName('T');
    const text = `{"requests":[{"method":"POST","path":"/platform/classes/${table}","body":{"__proto__":{"n":1},"n":1}}]}`;
    const answer = await get().call('POST', '/platform/batch', { body: text });
    assert.ok(answer.status === 400 || answer.body[0].error, answer.text);
    assert.deepEqual(await find(get(), table), []);
  });
});
