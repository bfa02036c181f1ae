import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as ask } from 'node:http';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { pino } from 'pino';
import { fail } from '../errors/fail.ts';
import type { Edge } from '../http/edge.ts';
import { HttpServer } from '../http/server.ts';
import type { JsonValue } from '../kernel/json.ts';
import { noFiles } from '../records/testing/context.ts';
import type { Store } from '../storage/port.ts';
import { hashKey, hashPrefix } from '../systems/secrets.ts';
import { Registration, System } from '../systems/system.ts';
import { AgentTools, type BearerVerdict, type McpParts } from './index.ts';
import { defineTool, type Tool, type ToolCall } from './tools/tool.ts';

/** How often the system is held, and by whom it was let go. */
let held = 0;
class CountedSystem extends System {
  override hold(): void {
    held++;
    super.hold();
  }
  override release(): void {
    held--;
    super.release();
  }
}

const keyOf = (kind: 'master' | 'apiKey', key: string) => hashKey(hashPrefix('salt', 'app', kind), key);
const system = new CountedSystem(
  new Registration(
    { id: '1', appId: 'app', name: 'App', createdAt: 0, masterKeyHash: keyOf('master', 'mk') },
    [{ appId: 'app', name: 'first', hash: keyOf('apiKey', 'ak'), createdAt: 0 }],
    'salt',
  ),
  { schema: () => ({ version: 0, tables: new Map(), referencesTo: new Map() }) } as unknown as Store,
);

let called: ToolCall | undefined;
let reached = () => {};
let finish = () => {};
const tool = (name: string, run: (call: ToolCall) => Promise<JsonValue>): Tool =>
  defineTool({ name, group: 'records', description: name, input: {}, needs: ['mcp:view'], effect: 'read', about: 'T', run });
const tools: readonly Tool[] = [
  tool('Fine', async (call) => {
    called = call;
    return { ok: true };
  }),
  tool('Refusing', async () => fail('objectNotFound')),
  tool('Buggy', async () => (null as unknown as { secret: string }).secret),
  tool('Huge', async () => 'x'.repeat(70_000)),
  tool('Slow', async () => {
    await new Promise<void>((resolve) => {
      finish = resolve;
      reached();
    });
    return { late: true };
  }),
  tool('Waiting', async ({ signal }) => {
    reached();
    await once(signal, 'abort');
    return null;
  }),
];

const verdicts: Record<string, () => Promise<BearerVerdict>> = {
  ended: async () => ({ kind: 'ended' }),
  failing: () => Promise.reject(new Error('no keys')),
};
const logged: string[] = [];
const shared = {
  systems: {
    acquire(appId: string) {
      if (appId === 'lost') return Promise.reject(new Error('no disk'));
      if (appId !== 'app') return undefined;
      system.hold();
      return appId === 'app' ? system : undefined;
    },
  },
  hooks: { observers: [], rules: new Map(), files: noFiles },
  log: pino({ level: 'error' }, { write: (line: string) => void logged.push(line) }),
  trustProxy: false,
  baseUrl: () => 'http://base.example',
};
const parts = {
  ...shared,
  host: 'inside',
  bearer: async (_system: System, token: string) =>
    Object.hasOwn(verdicts, token) ? (verdicts[token] as () => Promise<BearerVerdict>)() : { kind: 'unknown' },
} as unknown as McpParts;

const makeServer = (): Promise<HttpServer> => {
  const rateLimits = { functions: 0, login: 0 };
  const options = { host: '127.0.0.1', port: 0, trustProxy: false, queryTimeout: 1_000, functionBodyBytes: 1_000, rateLimits };
  return HttpServer.create(shared as unknown as Edge, options, [new AgentTools(parts, tools)]);
};
let http: HttpServer;
let url: string;
before(async () => {
  http = await makeServer();
  url = await http.listen();
});
after(() => http.close(1_000));
beforeEach(() => {
  called = undefined;
  logged.length = 0;
});

/** Waits until nobody holds the system any more. */
const idle = async () => {
  for (let n = 0; n < 200 && held > 0; n++) await wait(10);
  assert.equal(held, 0);
};

type Headers = Record<string, string>;
const master = { 'x-platform-master-key': 'mk' };

/** A request by hand, so that any header can be sent. */
function send(path: string, body: unknown, headers: Headers = {}): Promise<{ status: number; headers: Headers; body: any }> {
  return new Promise((resolve, reject) => {
    const sent = ask(url + path, { method: 'POST', headers: { 'content-type': 'application/json', ...headers } }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (piece) => (text += piece));
      answer.on('end', async () => {
        await idle().catch(reject);
        const { statusCode = 0 } = answer;
        resolve({ status: statusCode, headers: answer.headers as Headers, body: text === '' ? undefined : JSON.parse(text) });
      });
    });
    sent.on('error', reject);
    sent.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
}

const message = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 7, method, params });
const call = (name: string, headers: Headers = master) =>
  send('/mcp/app', message('tools/call', { name, arguments: {} }), headers);

const denied = 'Permission denied for action find on class T';
const metadata = 'resource_metadata="http://base.example/.well-known/oauth-protected-resource/mcp/app"';
const missing = `Bearer error="insufficient_scope", scope="mcp:view", ${metadata}`;

/** What a call is answered with each kind of credential: the status, and the text of the result or the message of the error. */
const credentials: readonly (readonly [headers: Headers, status: number, text: string, challenge?: string])[] = [
  [{}, 403, 'Authorization header is required', missing],
  [{ 'x-platform-application-id': 'app' }, 403, 'Authorization header is required', missing],
  [{ 'x-platform-session-token': 'r:00' }, 403, 'Authorization header is required', missing],
  [{ 'x-platform-api-key': '' }, 403, 'Authorization header is required', missing],
  [master, 200, '{"ok":true}'],
  [{ 'x-platform-api-key': 'ak' }, 200, '{"ok":true}'],
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
  [{ ...master, 'x-platform-api-key': 'none', authorization: 'Bearer ended' }, 200, '{"ok":true}'],
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
    assert.equal(called !== undefined, text === '{"ok":true}');
    // What is open is open with any of them.
    for (const method of ['initialize', 'ping', 'tools/list']) {
      const params =
        method === 'initialize'
          ? { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'c', version: '1' } }
          : {};
      const open = await send('/mcp/app', message(method, params), headers);
      assert.equal(open.status, 200, method);
      assert.ok(open.body.result, method);
    }
  });

test('who calls: a key is the master identity', async () => {
  await call('Fine', { 'x-platform-api-key': 'ak' });
  const first = called?.principal;
  await call('Fine', { 'x-platform-api-key': 'ak' });
  assert.deepEqual(first, { kind: 'apiKey', name: 'first', tools: true });
  assert.equal(called?.principal, first);
  assert.equal(called?.context.principal, first);
  assert.equal(called?.context.referer, null);
  assert.equal(called?.context.appId, 'app');
  await call('Fine');
  assert.deepEqual(called?.principal, { kind: 'master' });
});

test('a token check that fails is a fault, and shows nothing', async () => {
  const answer = await call('Fine', { authorization: 'Bearer failing' });
  assert.equal(answer.status, 500);
  assert.deepEqual(answer.body, { jsonrpc: '2.0', error: { code: -32603, message: 'server error' }, id: null });
  assert.match(logged.join(), /no keys/);
});

test('errors of a tool are results: code and message, then what helps', async () => {
  const { status, body } = await call('Refusing');
  assert.equal(status, 200);
  assert.equal(body.result.isError, true);
  assert.match(body.result.content[0].text, /^Object not found\. \(code 101\)\./);
  assert.equal(body.result.structuredContent.code, 101);
  assert.deepEqual(logged, []);
});

test('faults of a tool are logged and not shown', async () => {
  const { status, body } = await call('Buggy');
  assert.equal(status, 200);
  assert.match(body.result.content[0].text, /^server error \(code 1\)\.$/);
  assert.equal(body.result.isError, true);
  assert.match(logged.join(), /secret/);
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
  const begun = new Promise<void>((resolve) => (reached = resolve));
  const sent = ask(`${url}/mcp/app`, { method: 'POST', headers: { 'content-type': 'application/json', ...master } });
  sent.on('error', () => {});
  sent.end(JSON.stringify(message('tools/call', { name: 'Waiting' })));
  await begun;
  assert.ok(held > 0);
  sent.destroy();
  await idle();
});

test('a client that leaves while it sends is no fault', async () => {
  for (const bytes of [1_000, 3_000_000]) {
    const headers = { 'content-type': 'application/json', 'content-length': '5000000', ...master };
    const sent = ask(`${url}/mcp/app`, { method: 'POST', headers });
    sent.on('error', () => {});
    sent.write('x'.repeat(bytes));
    await wait(50);
    sent.destroy();
    await wait(50);
  }
  await idle();
  assert.deepEqual(logged, []);
});

test('systems: unknown, unnamed, out of reach', async () => {
  const asks = message('tools/call', { name: 'Fine' });
  const cases: readonly (readonly [path: string, headers: Headers, body: object, status: number, message: string])[] = [
    ['/mcp/other', {}, message('tools/list'), 403, 'unauthorized'],
    ['/mcp/other', master, asks, 403, 'unauthorized'],
    ['/mcp', { 'x-platform-application-id': 'other' }, message('ping'), 403, 'unauthorized'],
    ['/mcp', master, asks, 403, 'unauthorized'],
    ['/mcp', {}, asks, 403, 'Authorization header is required'],
    ['/mcp/lost', master, asks, 500, 'server error'],
  ];
  for (const [path, headers, body, status, text] of cases) {
    const answer = await send(path, body, headers);
    assert.equal(answer.status, status, path);
    assert.equal(answer.body.error.message, text);
  }
  for (const path of ['/mcp', '/mcp/']) assert.equal((await send(path, message('ping'))).status, 200);
  const named = await send('/mcp', asks, { ...master, 'x-platform-application-id': 'app' });
  assert.equal(named.body.result.content[0].text, '{"ok":true}');
});

test('names of other hosts are refused; addresses and names of the service are not', async () => {
  const verdictOf = async (host: string) => (await send('/mcp/app', message('ping'), { host })).status;
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

test('bodies: who is not known sends 1 MiB at most', async () => {
  const long = (bytes: number) => message('ping', { text: 'x'.repeat(bytes) });
  assert.equal((await send('/mcp/app', long(900_000))).status, 200);
  for (const headers of [{}, { 'x-platform-api-key': 'none' }, { authorization: 'Bearer ended' }]) {
    const { status, body } = await send('/mcp/app', long(1_100_000), headers);
    assert.equal(status, 413);
    assert.equal(body.error.message, 'Request body is too large.');
  }
  assert.equal((await send('/mcp/app', long(5_000_000), master)).status, 200);
  assert.equal((await send('/mcp/app', long(47 * 1024 * 1024), master)).status, 413);
  // Without a length, too.
  assert.equal((await send('/mcp/app', long(1_100_000), { 'transfer-encoding': 'chunked' })).status, 413);
  assert.equal((await send('/mcp/app', long(1_100_000), { ...master, 'transfer-encoding': 'chunked' })).status, 200);
});

test('long bodies wait for each other and let go of their places', async () => {
  const body = JSON.stringify(message('ping', { text: 'x'.repeat(2_000_000) }));
  const answers = await Promise.all(Array.from({ length: 12 }, () => send('/mcp/app', body, master).catch(String)));
  for (const answer of answers) assert.equal(typeof answer === 'string' ? answer : answer.status, 200);
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
    const answer = await send('/mcp/app', body);
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
      headers: { 'content-type': 'application/json', ...master, ...headers },
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
  // The list never changes, so the stream is over when it has said so.
  assert.match(await listening.text(), /subscriptions\/acknowledged[\s\S]*"resultType":"complete"/);
  const begun = new Promise<void>((resolve) => (reached = resolve));
  const answering = post(message('tools/call', { name: 'Slow' }));
  const streaming = post(message('tools/call', { name: 'Fine' }), { accept: 'text/event-stream' });
  await begun;
  assert.match(await (await streaming).text(), /^event: message/);
  const started = performance.now();
  const closed = ending.close(10_000);
  await wait(200);
  finish();
  const answer = (await (await answering).json()) as { result: { content: { text: string }[] } };
  assert.equal(answer.result.content[0]?.text, '{"late":true}');
  await closed;
  assert.ok(performance.now() - started < 5_000);
  await idle();
});
