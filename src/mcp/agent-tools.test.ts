import assert from 'node:assert/strict';
import { request as ask } from 'node:http';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { HttpServices } from '../http/endpoint/services.ts';
import { HttpServer } from '../http/server.ts';
import { AgentTools } from './index.ts';
import { apiKey, calling, fakeServices, fakeTools, type Headers, idle, masterKey, message, seen, send } from './testing/fakes.ts';

const makeServer = (): Promise<HttpServer> => {
  const rateLimits = { functions: 0, login: 0 };
  const options = { host: '127.0.0.1', port: 0, trustProxy: false, queryTimeout: 1_000, functionBodyBytes: 1_000, rateLimits };
  return HttpServer.create(fakeServices as unknown as HttpServices, options, [new AgentTools(fakeServices, fakeTools)]);
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

test('errors of a tool are results: code and message, then what helps', async () => {
  const { status, body } = await call('Refusing');
  assert.equal(status, 200);
  assert.equal(body.result.isError, true);
  assert.match(body.result.content[0].text, /^Object not found\. \(code 101\)\./);
  assert.equal(body.result.structuredContent.code, 101);
  assert.deepEqual(seen.logged, []);
});

test('faults of a tool are seen.logged and not shown', async () => {
  const { status, body } = await call('Buggy');
  assert.equal(status, 200);
  assert.match(body.result.content[0].text, /^server error \(code 1\)\.$/);
  assert.equal(body.result.isError, true);
  assert.match(seen.logged.join(), /secret/);
});

test('an answer over the budget is refused with the way out', async () => {
  const { body } = await call('Huge');
  assert.equal(body.result.isError, true);
  assert.match(body.result.content[0].text, /^The answer is too large\. \(code 116\)\. Ask for less/);
});

test('an unknown tool is an error of the protocol', async () => {
  for (const name of ['Nothing', 'fine', '__proto__', 'constructor'])
    assert.deepEqual((await call(name)).body.error, { code: -32602, message: `Unknown tool: ${name}` });
});

test('a client that goes away ends its call', async () => {
  const begun = new Promise<void>((resolve) => (seen.reached = resolve));
  const sent = ask(`${url}/mcp/app`, { method: 'POST', headers: { 'content-type': 'application/json', ...masterKey } });
  sent.on('error', () => {});
  sent.end(JSON.stringify(calling('Waiting')));
  await begun;
  assert.ok(seen.held > 0);
  sent.destroy();
  await idle();
});

test('a client that leaves while it sends is no fault', async () => {
  for (const bytes of [1_000, 3_000_000]) {
    const headers = { 'content-type': 'application/json', 'content-length': '5000000', ...masterKey };
    const sent = ask(`${url}/mcp/app`, { method: 'POST', headers });
    sent.on('error', () => {});
    sent.write('x'.repeat(bytes));
    await wait(50);
    sent.destroy();
    await wait(50);
  }
  await idle();
  assert.deepEqual(seen.logged, []);
});

test('bodies: who is not known sends 1 MiB at most', async () => {
  const long = (bytes: number) => message('ping', { text: 'x'.repeat(bytes) });
  assert.equal((await post('/mcp/app', long(900_000))).status, 200);
  for (const headers of [{}, { 'x-platform-api-key': 'none' }, { authorization: 'Bearer ended' }]) {
    const { status, body } = await post('/mcp/app', long(1_100_000), headers);
    assert.equal(status, 413);
    assert.equal(body.error.message, 'Request body is too large.');
  }
  assert.equal((await post('/mcp/app', long(5_000_000), masterKey)).status, 200);
  assert.equal((await post('/mcp/app', long(47 * 1024 * 1024), masterKey)).status, 413);
  // Also without a length.
  assert.equal((await post('/mcp/app', long(1_100_000), { 'transfer-encoding': 'chunked' })).status, 413);
  assert.equal((await post('/mcp/app', long(1_100_000), { ...masterKey, 'transfer-encoding': 'chunked' })).status, 200);
});

test('long bodies wait for each other and let go of their places', async () => {
  const body = JSON.stringify(message('ping', { text: 'x'.repeat(2_000_000) }));
  const answers = await Promise.all(Array.from({ length: 12 }, () => post('/mcp/app', body, masterKey).catch(String)));
  for (const answer of answers) assert.equal(typeof answer === 'string' ? answer : answer.status, 200);
});

test('bodies of too many values are refused before these are made', async () => {
  for (const one of ['{}', '[]', '0', '{"a":"b"}']) {
    const many = JSON.stringify(message('ping', { x: [] })).replace('[]', `[${Array(1_000_001).fill(one).join()}]`);
    const { status, body } = await post('/mcp/app', many, masterKey);
    assert.equal(status, 413);
    assert.equal(body.error.message, 'Request body is too large: too many values.');
  }
  const fine = JSON.stringify(message('ping', { x: [] })).replace('[]', `[${Array(999_000).fill('0').join()}]`);
  assert.equal((await post('/mcp/app', fine, masterKey)).status, 200);
});

test('batches: 10 messages and one list; with a good credential 100 and 10', async () => {
  let id = 100;
  const batch = (count: number, method: string) => Array.from({ length: count }, () => ({ ...message(method), id: id++ }));
  const refused = (bound: string) => ({
    jsonrpc: '2.0',
    error: { code: -32600, message: `Invalid Request: a batch holds ${bound} at most` },
    id: null,
  });
  const nobodies: Headers[] = [{}, { 'x-platform-api-key': 'none' }, { authorization: 'Bearer ended' }];
  for (const headers of nobodies)
    for (const path of ['/mcp', '/mcp/app']) {
      assert.equal((await post(path, batch(10, 'ping'), headers)).body.length, 10);
      assert.deepEqual((await post(path, batch(11, 'ping'), headers)).body, refused('10 messages'));
      assert.equal((await post(path, [...batch(1, 'tools/list'), message('ping')], headers)).body.length, 2);
      const lists = [...batch(1, 'tools/list'), message('server/discover')];
      assert.deepEqual((await post(path, lists, headers)).body, refused('one list'));
    }
  for (const headers of [masterKey, apiKey]) {
    assert.equal((await post('/mcp/app', batch(100, 'ping'), headers)).body.length, 100);
    assert.equal((await post('/mcp/app', [...batch(10, 'tools/list'), ...batch(90, 'ping')], headers)).body.length, 100);
    assert.deepEqual((await post('/mcp/app', batch(101, 'ping'), headers)).body, refused('100 messages'));
    const { status, body } = await post('/mcp/app', batch(11, 'tools/list'), headers);
    assert.deepEqual([status, body], [400, refused('10 lists')]);
  }
  // Keys of no system.
  assert.equal((await post('/mcp', batch(11, 'ping'), masterKey)).status, 400);
  const calls = batch(20, 'tools/call').map((one) => ({ ...one, params: { name: 'Fine', arguments: {} } }));
  assert.equal((await post('/mcp/app', calls)).body.error.message, 'Authorization header is required');
  assert.equal((await post('/mcp/app', calls, apiKey)).body.length, 20);
});

test('bodies that are no messages', async () => {
  const cases: readonly (readonly [body: string, code: number])[] = [
    ['', -32700],
    ['{"jsonrpc":"2.0",', -32700],
    ['"\\ud800"', -32700],
    [`{"a":${'['.repeat(200)}${']'.repeat(200)}}`, -32700],
    ['[]', -32600],
    ['5', -32600],
    ['null', -32600],
    ['{}', -32600],
    ['{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600],
  ];
  for (const [body, code] of cases) {
    const answer = await post('/mcp/app', body);
    assert.equal(answer.status, 400, body.slice(0, 40));
    assert.equal(answer.body.error.code, code, body.slice(0, 40));
    assert.doesNotMatch(answer.body.error.message, / at |node:/);
  }
});

test('a server that ends answers the calls under way, and waits for no stream', async () => {
  const ending = await makeServer();
  const address = await ending.listen();
  const post = (body: object, headers: Headers = {}) =>
    fetch(`${address}/mcp/app`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...masterKey, ...headers },
      body: JSON.stringify(body),
    });
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'c', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const listening = await post(message('subscriptions/listen', { _meta: meta, notifications: { toolsListChanged: true } }), {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'subscriptions/listen',
  });
  // The list never changes, so the stream ends after it.
  assert.match(await listening.text(), /subscriptions\/acknowledged[\s\S]*"resultType":"complete"/);
  const begun = new Promise<void>((resolve) => (seen.reached = resolve));
  const answering = post(calling('Slow'));
  const streaming = post(calling('Fine'), { accept: 'text/event-stream' });
  await begun;
  assert.match(await (await streaming).text(), /^event: message/);
  const started = performance.now();
  const closed = ending.close(10_000);
  await wait(200);
  seen.finish();
  const answer = (await (await answering).json()) as { result: { content: { text: string }[] } };
  assert.equal(answer.result.content[0]?.text, '{"late":true}');
  await closed;
  assert.ok(performance.now() - started < 5_000);
  await idle();
});
