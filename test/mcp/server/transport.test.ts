/** Addresses and protocol, independent of the tools. Reference: agents.md#addresses-of-agents, agents.md#protocol. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { before, test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { callTool, keyHeaders, masterHeaders, mcpAddress, message, post, rpc } from '../../support/mcp.ts';
import type { Service } from '../../support/service.ts';
import { sharedService } from '../../support/shared.ts';

let service: Service;
before(async () => {
  service = await sharedService('sqlite');
});

/** A call that finds nothing. */
const getAccounts = { name: 'Get-Data', arguments: { table: 'Accounts', where: { Name: 'of no account' } } };

test('each earlier revision is spoken, and the newest of them where another is asked for', async () => {
  const revisions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];
  for (const protocolVersion of [...revisions, '1999-01-01']) {
    const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '1' } };
    const { status, headers, body } = await rpc(service, {}, 'initialize', params);
    assert.equal(status, 200);
    assert.equal(headers.get('mcp-session-id'), null);
    assert.equal(body.result.protocolVersion, revisions.includes(protocolVersion) ? protocolVersion : '2025-11-25');
    assert.deepEqual(body.result.capabilities, { tools: {} });
    assert.equal(body.result.serverInfo.name, 'record-data-service');
    const named = { 'MCP-Protocol-Version': body.result.protocolVersion };
    const notification = await post(mcpAddress(service), { jsonrpc: '2.0', method: 'notifications/initialized' }, named);
    assert.deepEqual([notification.status, notification.text], [202, '']);
    const answer = await rpc(service, { ...keyHeaders(service), ...named }, 'tools/call', getAccounts);
    assert.equal(answer.body.result.content[0].text, '{"results":[]}');
  }
});

test('an unknown earlier revision is refused', async () => {
  const { status, body } = await rpc(service, { 'MCP-Protocol-Version': '1999-01-01' }, 'tools/list');
  assert.deepEqual([status, body.error.code], [400, -32000]);
});

for (const mode of ['legacy', { pin: '2026-07-28' }, 'auto'] as const)
  test(`the official client works: ${JSON.stringify(mode)}`, async () => {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    const requestInit = { headers: keyHeaders(service) };
    await client.connect(new StreamableHTTPClientTransport(new URL(mcpAddress(service)), { requestInit }));
    try {
      assert.equal(client.getNegotiatedProtocolVersion(), mode === 'legacy' ? '2025-11-25' : '2026-07-28');
      const { tools } = await client.listTools();
      assert.ok(tools.some(({ name }) => name === 'Get-Data'));
      const found = await client.callTool(getAccounts);
      assert.deepEqual(found.content, [{ type: 'text', text: '{"results":[]}' }]);
      const refused = await client.callTool({ name: 'Get-Data', arguments: { table: 'Accounts', limit: 2001 } });
      assert.equal(refused.isError, true);
      assert.equal((refused.structuredContent as { code: number }).code, 107);
      await assert.rejects(client.callTool({ name: 'Nothing', arguments: {} }), /Unknown tool: Nothing/);
    } finally {
      await client.close();
    }
  });

test('the plain address serves a system named by a header', async () => {
  const headers = { ...masterHeaders(service), 'X-Platform-Application-Id': service.appId };
  const { body } = await post(`${service.url}/mcp`, message('tools/call', getAccounts), headers);
  assert.equal(body.result.content[0].text, '{"results":[]}');
});

test('answers are plain JSON whatever is accepted, a stream where that alone is', async () => {
  for (const Accept of ['application/json', '*/*', 'text/html', 'application/json, text/event-stream', '']) {
    const answer = await rpc(service, { ...keyHeaders(service), Accept }, 'tools/call', getAccounts);
    assert.match(answer.headers.get('content-type') ?? '', /^application\/json/, Accept);
    assert.equal(answer.body.result.content[0].text, '{"results":[]}');
  }
  const answer = await rpc(service, { ...keyHeaders(service), Accept: 'text/event-stream' }, 'tools/call', getAccounts);
  assert.equal(answer.headers.get('content-type'), 'text/event-stream');
  assert.match(answer.text, /^event: message\ndata: \{"result":.*\}\n\n$/);
});

test('a type that says nothing of JSON is refused, a missing one is not', async () => {
  const body = JSON.stringify(message('ping'));
  const status = async (headers: Record<string, string>) =>
    (await fetch(mcpAddress(service), { method: 'POST', headers, body: Buffer.from(body) })).status;
  assert.equal(await status({}), 200);
  assert.equal(await status({ 'Content-Type': 'application/json; charset=utf-8' }), 200);
  assert.equal(await status({ 'Content-Type': 'text/plain' }), 415);
});

test('batches: each message has its answer; one call without a credential refuses all', async () => {
  const batch = [
    message('ping', {}, 1),
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    message('tools/call', getAccounts, 'two'),
    message('tools/call', { name: 'Get-Data', arguments: {} }, 3),
    message('tools/call', { name: 'Nothing' }, 4),
  ];
  const { status, body } = await post(mcpAddress(service), batch, keyHeaders(service));
  assert.equal(status, 200);
  const byId = new Map(body.map((one: { id: unknown }) => [one.id, one])) as Map<unknown, any>;
  assert.deepEqual([...byId.keys()], [1, 'two', 3, 4]);
  assert.deepEqual(byId.get(1).result, {});
  assert.equal(byId.get('two').result.content[0].text, '{"results":[]}');
  assert.equal(byId.get(3).result.isError, true);
  assert.equal(byId.get(4).error.code, -32602);
  const refused = await post(mcpAddress(service), batch);
  assert.equal(refused.status, 403);
  assert.deepEqual(refused.body, {
    jsonrpc: '2.0',
    error: { code: -32000, message: 'Authorization header is required' },
    id: null,
  });
  const open = await post(mcpAddress(service), [message('ping', {}, 1), message('tools/list', {}, 2)]);
  assert.deepEqual(
    open.body.map(({ id }: { id: number }) => id),
    [1, 2],
  );
});

test('POST alone; every answer carries its request id', async () => {
  for (const method of ['GET', 'DELETE'])
    for (const path of ['/mcp', `/mcp/${service.appId}`]) {
      const answer = await fetch(service.url + path, { method, headers: { Accept: 'text/event-stream' } });
      assert.equal(answer.status, 405);
      assert.equal(answer.headers.get('allow'), 'POST');
      assert.equal(((await answer.json()) as { error: { message: string } }).error.message, 'Method not allowed.');
    }
  const withRequestId = { 'X-Request-Id': 'request-17' };
  for (const answer of [await rpc(service, withRequestId, 'ping'), await rpc(service, withRequestId, 'tools/call', getAccounts)])
    assert.equal(answer.headers.get('x-request-id'), 'request-17');
});

test('browsers may call from anywhere and see what they need', async () => {
  const wanted = 'authorization,content-type,mcp-protocol-version,mcp-method,mcp-name,mcp-session-id,x-platform-api-key';
  const headers = {
    Origin: 'https://agent.example',
    'Access-Control-Request-Method': 'POST',
    'Access-Control-Request-Headers': wanted,
  };
  const preflight = await fetch(mcpAddress(service), { method: 'OPTIONS', headers });
  assert.equal(preflight.status, 204);
  assert.equal(preflight.headers.get('access-control-allow-origin'), 'https://agent.example');
  const allowed = (preflight.headers.get('access-control-allow-headers') ?? '').toLowerCase();
  for (const name of wanted.split(',')) assert.ok(allowed.includes(name), name);
  const refused = await rpc(service, { Origin: 'https://agent.example' }, 'tools/call', getAccounts);
  assert.equal(refused.status, 403);
  const exposed = (refused.headers.get('access-control-expose-headers') ?? '').toLowerCase();
  for (const name of ['www-authenticate', 'mcp-session-id', 'mcp-protocol-version']) assert.ok(exposed.includes(name), name);
  assert.equal(refused.headers.get('access-control-allow-origin'), 'https://agent.example');
});

test('toolsets of the address narrow the list and the calls', async () => {
  const at = (query: string) => `${mcpAddress(service)}?toolsets=${query}`;
  const namesOf = async (address: string): Promise<string[]> =>
    (await post(address, message('tools/list'))).body.result.tools.map(({ name }: { name: string }) => name);
  const all = await namesOf(mcpAddress(service));
  const records = await namesOf(at('records'));
  assert.ok(records.includes('Get-Data') && records.length < all.length);
  assert.deepEqual(await namesOf(at('Records,%20nothing')), records);
  for (const none of ['', 'nothing', '__proto__']) assert.deepEqual(await namesOf(at(none)), all);
  const others = await namesOf(at('schema,records'));
  assert.ok(others.length > records.length);
  const call = (address: string) => post(address, message('tools/call', getAccounts), keyHeaders(service));
  assert.ok((await call(at('records'))).body.result);
  assert.equal((await call(at('schema'))).body.error.message, 'Unknown tool: Get-Data');
});

test('the list may be kept by anybody for an hour', async () => {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  for (const method of ['tools/list', 'server/discover']) {
    const headers = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': method };
    const { body } = await rpc(service, headers, method, { _meta: meta });
    assert.deepEqual([body.result.ttlMs, body.result.cacheScope], [3_600_000, 'public'], method);
  }
});

test('a request of HTTP/1.0 without a Host is answered', async () => {
  const body = JSON.stringify(message('ping'));
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  socket.end(`POST /mcp HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  const pieces: Buffer[] = [];
  for await (const piece of socket) pieces.push(piece as Buffer);
  assert.match(Buffer.concat(pieces).toString(), /^HTTP\/1.1 200 OK[\s\S]*"result":\{\}/);
});

test('names outside the schema and texts of any script come back as they went in', async () => {
  const answer = await callTool(service, keyHeaders(service), 'Get-Data', { table: 'Accounts', keys: ['שם', '\u{1F600}'] });
  assert.equal(answer.status, 200);
  const unknown = await callTool(service, keyHeaders(service), 'שלום\u{1F600}');
  assert.equal(unknown.text, 'Unknown tool: שלום\u{1F600}');
});
