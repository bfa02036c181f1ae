/** CORS, X-Request-Id, unknown paths, application ids, health, and bodies that are refused before they reach an endpoint. */
import assert from 'node:assert/strict';
import { type ClientRequest, request } from 'node:http';
import { test } from 'node:test';
import { assertError, create, find, tableName } from '../support/query.ts';
import { onSampledEngine } from './sampled.ts';

const origin = 'https://forms.example';
const list = (text: string | null) => (text ?? '').split(',').map((part) => part.trim().toLowerCase());

onSampledEngine((get) => {
  const table = tableName('Edge');
  const path = `/platform/classes/${table}`;
  const preflight = (to: string, headers: string, method = 'POST') =>
    fetch(get().url + to, {
      method: 'OPTIONS',
      headers: { Origin: origin, 'Access-Control-Request-Method': method, 'Access-Control-Request-Headers': headers },
    });

  for (const to of ['/platform/classes/Accounts', '/platform/batch', '/functions/testapp/getlead', '/platform/files/a.txt'])
    test(`Conventions CORS: the preflight answer echoes the request's Origin (never *): ${to}`, async () => {
      const answer = await preflight(to, 'content-type');
      assert.ok([200, 204].includes(answer.status), String(answer.status));
      assert.equal(answer.headers.get('access-control-allow-origin'), origin);
    });
  test('Conventions CORS: the preflight allows GET,PUT,POST,DELETE,OPTIONS', async () => {
    for (const method of ['GET', 'PUT', 'POST', 'DELETE']) {
      const allowed = list((await preflight(path, 'content-type', method)).headers.get('access-control-allow-methods'));
      assert.deepEqual(allowed.sort(), ['delete', 'get', 'options', 'post', 'put']);
    }
  });
  test('Conventions CORS: the preflight allows all X-Platform-* request headers, and Content-Type', async () => {
    const names = ['Application-Id', 'API-Key', 'Master-Key', 'Session-Token', 'Installation-Id', 'Anything-New'];
    const wanted = ['content-type', ...names.map((name) => `x-platform-${name.toLowerCase()}`)];
    const allowed = list((await preflight(path, wanted.join(','))).headers.get('access-control-allow-headers'));
    for (const name of wanted) assert.ok(allowed.includes(name), name);
  });
  test('Conventions CORS: a preflight that names no header, or one, is answered with all X-Platform-* headers', async () => {
    const headers = { Origin: origin, 'Access-Control-Request-Method': 'PUT' };
    for (const asked of [{}, { 'Access-Control-Request-Headers': 'x-platform-api-key' }] as Record<string, string>[]) {
      const answer = await fetch(get().url + path, { method: 'OPTIONS', headers: { ...headers, ...asked } });
      const allowed = list(answer.headers.get('access-control-allow-headers'));
      for (const name of ['application-id', 'api-key', 'master-key', 'session-token'])
        assert.ok(allowed.includes(`x-platform-${name}`), `${name}: ${allowed}`);
      assert.ok(allowed.includes('content-type'));
      assert.equal(new Set(allowed).size, allowed.length);
    }
  });
  test('Conventions CORS: a simple answer carries the Origin too, failures included', async () => {
    await create(get(), table, { n: 0 });
    for (const [to, status] of [
      [path, 200],
      [`${path}/nowhere`, 404],
      ['/platform/nothing', 404],
    ] as const) {
      const answer = await get().call('GET', to, { headers: { Origin: origin } });
      assert.deepEqual([answer.status, answer.headers.get('access-control-allow-origin')], [status, origin], to);
      assert.match(answer.headers.get('vary') ?? '', /origin/i);
    }
  });
  test('Conventions CORS: without an Origin no answer says *', async () => {
    assert.notEqual((await get().call('GET', path)).headers.get('access-control-allow-origin'), '*');
  });
  test('Conventions CORS: the Origin header cannot split the answer', async () => {
    const answer = await get().call('GET', path, { headers: { Origin: 'null' } });
    assert.ok(['null', null].includes(answer.headers.get('access-control-allow-origin')));
  });

  test('Requests: every answer carries X-Request-Id, each its own', async () => {
    const answers = [
      await get().call('GET', path),
      await get().call('GET', `${path}/nowhere`),
      await get().call('GET', '/platform/nothing'),
      await get().call('GET', '/nothing'),
      await get().call('POST', path, { body: '{' }),
      await get().call('GET', path, { query: { where: '{' } }),
      await get().call('GET', path, { headers: { 'X-Platform-Application-Id': 'wrong' } }),
      await get().call('POST', path, { as: 'anonymous', body: {} }),
      await get().call('GET', '/health/live'),
      await preflight(path, 'content-type'),
    ];
    const ids = answers.map((answer) => answer.headers.get('x-request-id'));
    for (const [at, id] of ids.entries()) assert.match(id ?? '', /^[\w-]{6,}$/, `answer ${at}`);
    assert.equal(new Set(ids).size, ids.length);
  });
  test('Requests: no answer of data is one that a shared cache keeps', async () => {
    const id = await create(get(), table, { name: 'x' });
    const one = `${path}/${id}`;
    const pipeline = encodeURIComponent('[{"group":{"objectId":null}}]');
    const addresses = [path, one, `${path}?count=1&limit=0`, `/platform/classes-aggregate/${table}?pipeline=${pipeline}`];
    const more = ['users', 'roles', 'sessions', 'schemas', `schemas/${table}`, 'users/me', 'sessions/me'].map(
      (to) => `/platform/${to}`,
    );
    const refused = [`${path}/none`, `${path}?where=x`];
    for (const to of [...addresses, ...more, ...refused]) {
      const answer = await get().call('GET', to);
      assert.match(answer.headers.get('cache-control') ?? '', /^(?:private, no-cache|no-store)$/, to);
    }
    for (const to of addresses) {
      const answer = await get().call('GET', to);
      assert.deepEqual([answer.status, answer.headers.get('cache-control')], [200, 'private, no-cache'], to);
    }
  });
  test('Requests: no answer that brings a session token is stored, whichever way it came', async () => {
    const user = () => ({ username: tableName('u'), password: 'Secret1pass' });
    const { call } = get();
    const known = user();
    const first = await call('POST', '/platform/users', { body: known });
    const login = await call('POST', '/platform/login', { as: 'anonymous', body: known });
    const session = login.body.sessionToken;
    const item = (path: string, body: object) =>
      call('POST', '/platform/batch', { body: { requests: [{ method: 'POST', path, body }] } });
    const answers = [
      first,
      login,
      await call('GET', '/platform/users/me', { session }),
      await call('POST', '/platform/classes/_User', { body: user() }),
      await call('POST', '/platform/sessions', { session, body: {} }),
      await item('/platform/users', user()),
      await item('/platform/login', known),
    ];
    for (const [at, { text, headers }] of answers.entries()) {
      assert.match(text, /"sessionToken":"r:/, `answer ${at}`);
      assert.equal(headers.get('cache-control'), 'no-store', `answer ${at}`);
    }
    const other = await item(path, { name: 'x' });
    assert.deepEqual([other.status, other.headers.get('cache-control')], [200, 'private, no-cache']);
  });
  test('Requests: answers are JSON', async () => {
    for (const to of [path, '/platform/nothing']) {
      const type = (await get().call('GET', to)).headers.get('content-type') ?? '';
      assert.match(type, /^application\/json/);
    }
  });

  for (const [method, to] of [
    ['GET', '/platform/nothing'],
    ['GET', '/platform'],
    ['GET', '/platform/'],
    ['GET', '/platform/classes'],
    ['POST', '/platform/nothing'],
    ['PUT', '/platform/classes-aggregate/T'],
    ['GET', '/platform/batch'],
    ['GET', '/platform/classes/T/a/b'],
    ['GET', '/nothing'],
    ['GET', '/classes/T'],
  ] as const)
    test(`Requests: unknown path: 404 {error: Not found.}: ${method} ${to}`, async () => {
      const answer = await get().call(method, to, method === 'GET' ? {} : { body: {} });
      assert.equal(answer.status, 404, answer.text);
      assert.equal(answer.body.error, 'Not found.');
      assert.notEqual(answer.body.code, 119);
    });

  for (const [sentence, headers] of [
    ['missing', {}],
    ['unknown', { 'X-Platform-Application-Id': 'unknown' }],
    ['an inherited name', { 'X-Platform-Application-Id': 'constructor' }],
    ['empty', { 'X-Platform-Application-Id': '' }],
  ] as [string, Record<string, string>][])
    test(`Requests: application id ${sentence}: 403 {error: unauthorized}`, async () => {
      for (const to of [path, '/platform/schemas', '/platform/classes-aggregate/T']) {
        const response = await fetch(get().url + to, { headers: { ...headers, 'X-Platform-Master-Key': get().masterKey } });
        assert.deepEqual([response.status, await response.json()], [403, { error: 'unauthorized' }], to);
      }
    });

  for (const body of [
    '{',
    '{"a":}',
    '{"a":1',
    "{'a':1}",
    'undefined',
    '[]',
    '[{"a":1}]',
    '"x"',
    '5',
    'null',
    'true',
    '{"a":1} x',
    '{"a":\u0001}',
  ])
    test(`Requests: malformed JSON, or a body that is no object: 400 code 107: ${JSON.stringify(body)}`, async () => {
      const name = tableName('T');
      assertError(await get().call('POST', `/platform/classes/${name}`, { body }), 400, 107);
      assertError(await get().call('GET', `/platform/schemas/${name}`), 400, 103);
    });
  test('Requests: a malformed body to batch and to schemas: 400 code 107', async () => {
    for (const to of ['/platform/batch', `/platform/schemas/${tableName('T')}`])
      for (const body of ['{', '[]']) assertError(await get().call('POST', to, { body }), 400, 107);
  });
  test('Requests: text/plain bodies holding JSON are read as JSON', async () => {
    const name = tableName('T');
    const headers = { 'Content-Type': 'text/plain' };
    assert.equal((await get().call('POST', `/platform/classes/${name}`, { headers, body: { n: 1 } })).status, 201);
    assertError(await get().call('POST', `/platform/classes/${name}`, { headers, body: '{' }), 400, 107);
  });
  test('Requests: an escape in a path that is malformed is a 4xx', async () => {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const { hostname, port } = new URL(get().url);
      const headers = { 'X-Platform-Application-Id': get().appId, 'X-Platform-Master-Key': get().masterKey };
      request({ hostname, port, path: '/platform/classes/T/%E0%A4%A', headers }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      })
        .on('error', reject)
        .end();
    });
    assert.ok(status && status >= 400 && status < 500, String(status));
  });

  test('Requests: bodies over 20 MB on data endpoints: 413', async () => {
    const name = tableName('T');
    const answer = await get().call('POST', `/platform/classes/${name}`, { body: { s: 'x'.repeat(21 * 1024 * 1024) } });
    assertError(answer, 413, 116, 'Request body is too large.');
    assertError(await get().call('GET', `/platform/schemas/${name}`), 400, 103);
  });
  /** Starts a POST and returns the status of its answer. Its body need not be sent in full. */
  const begin = (headers: Record<string, string>, write: (sent: ClientRequest) => void) =>
    new Promise<number | undefined>((resolve, reject) => {
      const { hostname, port } = new URL(get().url);
      const keys = { 'X-Platform-Application-Id': get().appId, 'X-Platform-Master-Key': get().masterKey };
      const sent = request({
        hostname,
        port,
        method: 'POST',
        path,
        headers: { ...keys, 'Content-Type': 'application/json', ...headers },
      });
      sent.on('response', (answer) => {
        answer.resume();
        resolve(answer.statusCode);
        sent.destroy();
      });
      sent.on('error', reject);
      write(sent);
    });
  test('Requests: a body that announces a length over 20 MB: 413 before it is sent', async () => {
    const status = await begin({ 'Content-Length': String(21 * 1024 * 1024) }, (sent) => sent.write('{"s":"'));
    assert.equal(status, 413);
  });
  test('Requests: a body over 20 MB that does not announce its length: 413', async () => {
    const status = await begin({}, (sent) => {
      sent.write('{"s":"');
      for (let part = 0; part < 22; part++) sent.write('x'.repeat(1024 * 1024));
      sent.end('"}');
    });
    assert.equal(status, 413);
  });
  test('Requests: a body of 10 MB passes', async () => {
    const name = tableName('T');
    await create(get(), name, { s: 'x'.repeat(10 * 1024 * 1024) });
    assert.equal(String((await find(get(), name))[0]?.s).length, 10 * 1024 * 1024);
  });

  for (const to of ['/health/live', '/health/ready'])
    test(`Addresses: ${to} answers 200 without credentials`, async () => {
      assert.equal((await fetch(get().url + to)).status, 200);
    });

  test('Credentials: a key is valid only under its own header name: 119 `Permission denied for action find on class <X>`', async () => {
    const { masterKey, apiKey } = get();
    for (const headers of [
      { 'X-Platform-API-Key': masterKey },
      { 'X-Platform-Master-Key': apiKey },
      { 'X-Platform-API-Key': 'wrong' },
      { 'X-Platform-Master-Key': `${masterKey}x` },
    ] as Record<string, string>[]) {
      const answer = await get().call('GET', path, { as: 'anonymous', headers });
      assertError(answer, 400, 119, new RegExp(`^Permission denied for action find on class ${table}`));
    }
  });
  test('Requests: credentials in the body; a header wins over the body, whichever credential it brings', async () => {
    const { appId, masterKey, apiKey } = get();
    const find = async (headers: Record<string, string>, body: Record<string, unknown>) => {
      const sent = { method: 'POST', headers, body: JSON.stringify({ _method: 'GET', limit: 0, ...body }) };
      const answer = await fetch(get().url + path, sent);
      return [answer.status, ((await answer.json()) as { code?: number }).code];
    };
    const header = { 'X-Platform-Application-Id': appId };
    const refused = [400, 119];
    const found = [200, undefined];
    assert.deepEqual(await find({}, { _ApplicationId: appId, _MasterKey: masterKey }), found);
    assert.deepEqual(await find({}, { _ApplicationId: appId, _apiKey: apiKey }), found);
    assert.deepEqual(await find({}, { _ApplicationId: appId, _apiKey: masterKey }), refused);
    assert.deepEqual(await find({ 'X-Platform-Application-Id': 'x' }, { _ApplicationId: appId }), [403, undefined]);
    assert.deepEqual(await find({ ...header, 'X-Platform-Master-Key': masterKey }, { _MasterKey: 'wrong' }), found);
    assert.deepEqual(await find({ ...header, 'X-Platform-Master-Key': 'wrong' }, { _MasterKey: masterKey }), refused);
    assert.deepEqual(await find({ ...header, 'X-Platform-API-Key': apiKey }, { _MasterKey: 'wrong' }), found);
    assert.deepEqual(await find({ ...header, 'X-Platform-API-Key': 'wrong' }, { _MasterKey: masterKey }), refused);
    assert.deepEqual(await find({ ...header, 'X-Platform-API-Key': apiKey }, { _SessionToken: 'r:wrong' }), found);
  });
  test('Credentials: a session token that is not valid: 400 code 209 `invalid session token`', async () => {
    const headers = { 'X-Platform-Session-Token': `r:${'0'.repeat(32)}` };
    assertError(await get().call('GET', path, { as: 'anonymous', headers }), 400, 209, 'invalid session token');
  });
});
