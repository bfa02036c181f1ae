import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { HttpServices } from '../http/endpoint/services.ts';
import { HttpServer } from '../http/server.ts';
import { AgentTools } from './index.ts';
import { apiKey, calling, fakeServices, fakeTools, type Headers, masterKey, message, seen, send } from './testing/fakes.ts';

const makeServer = (parts = fakeServices): Promise<HttpServer> => {
  const rateLimits = { functions: 0, login: 0 };
  const options = { host: '127.0.0.1', port: 0, trustProxy: false, queryTimeout: 1_000, functionBodyBytes: 1_000, rateLimits };
  return HttpServer.create(parts as unknown as HttpServices, options, [new AgentTools(parts, fakeTools)]);
};
let http: HttpServer;
let url: string;
before(async () => {
  http = await makeServer();
  url = await http.listen();
});
after(() => http.close(1_000));
beforeEach(() => {
  seen.called = undefined;
  seen.logged.length = 0;
});

const post = (path: string, body: unknown, headers: Headers = {}) => send(url + path, body, headers);
const call = (name: string, headers: Headers = masterKey) => post('/mcp/app', calling(name), headers);

const denied = 'Permission denied for action find on class T';
const metadata = 'resource_metadata="http://base.example/.well-known/oauth-protected-resource/mcp/app"';
const missing = `Bearer error="insufficient_scope", scope="mcp:view mcp:create mcp:update mcp:edit-page-and-schema", ${metadata}`;

/** The answer to a call with each kind of credential: the status, and the text of the result or the message of the error. */
const credentials: readonly (readonly [headers: Headers, status: number, text: string, challenge?: string])[] = [
  [{}, 403, 'Authorization header is required', missing],
  [{ 'x-platform-application-id': 'app' }, 403, 'Authorization header is required', missing],
  [{ 'x-platform-session-token': 'r:00' }, 403, 'Authorization header is required', missing],
  [{ 'x-platform-api-key': '' }, 403, 'Authorization header is required', missing],
  [masterKey, 200, '{"ok":true}'],
  [apiKey, 200, '{"ok":true}'],
  [{ 'x-platform-api-key': 'mk' }, 200, denied],
  [{ 'x-platform-master-key': 'ak' }, 200, denied],
  [{ 'x-platform-api-key': 'none' }, 200, denied],
  [{ authorization: 'Bearer ak' }, 200, denied],
  [{ authorization: 'Bearer' }, 200, denied],
  [{ authorization: 'Basic YWs6' }, 200, denied],
  [
    { authorization: 'Bearer ended' },
    401,
    'The access token has expired or was revoked',
    `Bearer error="invalid_token", ${metadata}`,
  ],
  [{ ...masterKey, 'x-platform-api-key': 'none', authorization: 'Bearer ended' }, 200, '{"ok":true}'],
  [{ 'x-platform-master-key': 'none', 'x-platform-api-key': 'ak' }, 200, denied],
  [{ 'x-platform-api-key': 'ak', authorization: 'Bearer ended' }, 200, '{"ok":true}'],
];

for (const [headers, status, text, challenge] of credentials)
  test(`a call with ${JSON.stringify(headers)}`, async () => {
    const answer = await call('Fine', headers);
    assert.equal(answer.status, status);
    assert.equal(answer.body.result?.content[0].text ?? answer.body.error.message, text);
    assert.equal(answer.headers['www-authenticate'], challenge);
    if (status !== 200) assert.deepEqual([answer.body.error.code, answer.body.id], [-32000, 7]);
    else assert.equal(answer.body.result.isError ?? false, text === denied);
    assert.equal(seen.called !== undefined, text === '{"ok":true}');
    // Open methods work with every kind of credential.
    for (const method of ['initialize', 'ping', 'tools/list']) {
      const params =
        method === 'initialize'
          ? { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'c', version: '1' } }
          : {};
      const open = await post('/mcp/app', message(method, params), headers);
      assert.equal(open.status, 200, method);
      assert.ok(open.body.result, method);
    }
  });

test('who calls: a key is the master identity', async () => {
  await call('Fine', apiKey);
  const first = seen.called?.principal;
  await call('Fine', apiKey);
  assert.deepEqual(first, { kind: 'apiKey', name: 'first', tools: true });
  assert.equal(seen.called?.principal, first);
  assert.equal(seen.called.principal, first);
  assert.equal(seen.called.referer, null);
  assert.equal(seen.called.appId, 'app');
  await call('Fine');
  assert.deepEqual(seen.called?.principal, { kind: 'master' });
});

test('a token check that fails is a fault, and shows nothing', async () => {
  const answer = await call('Fine', { authorization: 'Bearer failing' });
  assert.equal(answer.status, 500);
  assert.deepEqual(answer.body, { jsonrpc: '2.0', error: { code: -32603, message: 'server error' }, id: null });
  assert.match(seen.logged.join(), /no keys/);
});

test('a token that cannot be looked at since the store is away has not ended: 503 with Retry-After', async () => {
  const { status, headers, body } = await call('Fine', { authorization: 'Bearer away' });
  assert.deepEqual([status, headers['retry-after']], [503, '2']);
  assert.equal(body.error.message, 'server error: the service is not available now');
  assert.deepEqual(seen.logged, []);
});

test('systems: unknown, unnamed, out of reach', async () => {
  const asks = calling('Fine');
  const cases: readonly (readonly [path: string, headers: Headers, body: object, status: number, message: string])[] = [
    ['/mcp/other', {}, message('tools/list'), 403, 'unauthorized'],
    ['/mcp/other', masterKey, asks, 403, 'unauthorized'],
    ['/mcp', { 'x-platform-application-id': 'other' }, message('ping'), 403, 'unauthorized'],
    ['/mcp', masterKey, asks, 403, 'unauthorized'],
    ['/mcp', {}, asks, 403, 'Authorization header is required'],
    ['/mcp/lost', masterKey, asks, 500, 'server error'],
  ];
  for (const [path, headers, body, status, text] of cases) {
    const answer = await post(path, body, headers);
    assert.equal(answer.status, status, path);
    assert.equal(answer.body.error.message, text);
  }
  for (const path of ['/mcp', '/mcp/']) assert.equal((await post(path, message('ping'))).status, 200);
  const named = await post('/mcp', asks, { ...masterKey, 'x-platform-application-id': 'app' });
  assert.equal(named.body.result.content[0].text, '{"ok":true}');
});

test('names of other hosts are refused; addresses and names of the service are not', async () => {
  const verdictOf = async (host: string) => (await post('/mcp/app', message('ping'), { host })).status;
  for (const own of [
    '127.0.0.1:80',
    '[::1]:80',
    '10.0.0.7',
    'localhost',
    'LOCALHOST:9',
    'app.localhost',
    'base.example',
    'inside:80',
  ])
    assert.equal(await verdictOf(own), 200, own);
  for (const foreign of ['evil.example', 'evil.example:80', 'base.example.evil.example', 'a b', '127.0.0.1.evil.example'])
    assert.equal(await verdictOf(foreign), 403, foreign);
});

test('the name by which a service is called may be known once it listens, and is the same in small letters', async (t) => {
  const addresses = { base: '' };
  const listening = await makeServer({ ...fakeServices, addresses, host: 'Inside' } as typeof fakeServices);
  t.after(() => listening.close(1_000));
  const address = await listening.listen();
  const verdictOf = async (host: string) => (await send(`${address}/mcp/app`, message('ping'), { host })).status;
  assert.equal(await verdictOf('inside'), 403);
  addresses.base = 'http://Inside:80';
  for (const host of ['inside', 'Inside:80', 'outside', 'INSIDE', 'localhost', 'outside'])
    assert.equal(await verdictOf(host), host === 'outside' ? 403 : 200, host);
});
