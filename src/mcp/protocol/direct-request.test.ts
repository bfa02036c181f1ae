import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import { test } from 'node:test';
import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import { directRequest } from './direct-request.ts';
import type { Exchange } from './exchange.ts';

const request: JsonObject = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'Get-Data', arguments: {} } };
const tools = { byName: new Map([['Get-Data', {}]]) };
const isDirect = (body: JsonValue, headers: IncomingHttpHeaders = {}): boolean =>
  directRequest({ body, headers: { 'content-type': 'application/json', ...headers }, tools } as unknown as Exchange) !== null;

test('one call, or the list, of an older revision is answered directly', () => {
  assert.ok(isDirect(request));
  assert.ok(isDirect({ ...request, id: 'a' }));
  assert.ok(isDirect({ jsonrpc: '2.0', id: 1, method: 'tools/list' }));
  for (const version of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])
    assert.ok(isDirect(request, { 'mcp-protocol-version': version }), version);
  assert.ok(isDirect(request, { 'content-type': 'application/json; charset=utf-8' }));
});

test('what has to be looked at more closely goes the way of the library', () => {
  const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
  const bodies: JsonValue[] = [
    [request],
    [],
    null,
    'tools/call',
    { ...request, id: null },
    { ...request, jsonrpc: '1.0' },
    { ...request, method: 'ping' },
    { ...request, method: '__proto__' },
    { ...request, params: [] },
    { ...request, params: { name: 'Get-Data', _meta } },
    { jsonrpc: '2.0', method: 'tools/call', params: {} },
    { jsonrpc: '2.0', id: 1, result: {} },
    { ...request, id: 1.5 },
    { ...request, id: 2 ** 53 },
    { ...request, params: { name: 'Get-Nothing', arguments: {} } },
    { ...request, params: { name: 'Get-Data', arguments: [] } },
    { ...request, params: { name: 'Get-Data', arguments: null } },
    { ...request, params: { name: 'Get-Data', arguments: JSON.parse('{"__proto__":1}') } },
    JSON.parse('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"Get-Data","__proto__":{}}}'),
    ...['task', 'inputResponses', 'requestState'].map((name) => ({ ...request, params: { name: 'Get-Data', [name]: {} } })),
    { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { cursor: 'a' } },
  ];
  for (const body of bodies) assert.equal(isDirect(body), false, JSON.stringify(body));
  const others: IncomingHttpHeaders[] = [
    { 'mcp-protocol-version': '2026-07-28' },
    { 'mcp-protocol-version': '1999-01-01' },
    { 'mcp-protocol-version': '' },
    { 'mcp-method': 'tools/call' },
    { 'mcp-name': 'Get-Data' },
    { 'content-type': 'text/plain' },
    { 'content-type': undefined },
  ];
  for (const headers of others) assert.equal(isDirect(request, headers), false, JSON.stringify(headers));
});

const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const newest = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'Get-Data' };
const called: JsonObject = { ...request, params: { name: 'Get-Data', arguments: {}, _meta: meta } };
const listed: JsonObject = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } };

test('one call, or the list, of the newest revision is answered directly where its headers say the same as its body', () => {
  assert.ok(isDirect(called, newest));
  assert.ok(isDirect(listed, { ...newest, 'mcp-method': 'tools/list', 'mcp-name': undefined }));
});

test('what the newest revision compares or refuses goes the way of the library', () => {
  const others: [JsonValue, IncomingHttpHeaders][] = [
    [called, { ...newest, 'mcp-method': undefined }],
    [called, { ...newest, 'mcp-method': 'tools/list' }],
    [called, { ...newest, 'mcp-name': undefined }],
    [called, { ...newest, 'mcp-name': 'get-data' }],
    [called, { ...newest, 'mcp-name': '=?base64?R2V0LURhdGE=?=' }],
    [called, { ...newest, 'mcp-protocol-version': '2025-11-25' }],
    [listed, { ...newest, 'mcp-method': 'tools/list' }],
    [request, newest],
    [
      { ...called, params: { name: 'Get-Nothing', _meta: meta } },
      { ...newest, 'mcp-name': 'Get-Nothing' },
    ],
    [{ ...called, params: { name: 5, _meta: meta } }, newest],
    [
      { ...called, params: { name: 'Get-Data', _meta: { ...meta, 'io.modelcontextprotocol/protocolVersion': '2027-01-01' } } },
      newest,
    ],
    [{ ...called, params: { name: 'Get-Data', _meta: { ...meta, 'io.modelcontextprotocol/clientInfo': 5 } } }, newest],
    [[called], newest],
  ];
  for (const [body, headers] of others) assert.equal(isDirect(body, headers), false, JSON.stringify([body, headers]));
});

test('an envelope that was seen before lets nothing by that would have been looked at', () => {
  assert.ok(isDirect(called, newest));
  const { params, ...message } = called as { params: JsonObject };
  const others: [JsonValue, IncomingHttpHeaders][] = [
    [{ ...called, result: {} }, newest],
    [{ ...called, error: { code: 1, message: 'a' } }, newest],
    [{ ...called, more: 1 }, newest],
    [{ ...message, params, jsonrpc: '1.0' }, newest],
    [{ ...message, params, id: null }, newest],
    [{ ...message, params: { ...params, _meta: { ...meta, 'io.modelcontextprotocol/clientCapabilities': [] } } }, newest],
    [called, { ...newest, 'mcp-method': 'tools/list' }],
    [called, { ...newest, 'mcp-protocol-version': undefined }],
  ];
  for (const [body, headers] of others) assert.equal(isDirect(body, headers), false, JSON.stringify([body, headers]));
});

test('what older revisions say beside a call does not keep it from being answered directly', () => {
  const told = (_meta: JsonValue) => ({ ...request, params: { name: 'Get-Data', _meta } });
  assert.ok(isDirect(told({ progressToken: 1 })));
  assert.ok(isDirect(told({ progressToken: 'a', traceparent: 'b' }), { 'mcp-protocol-version': '2025-06-18' }));
  for (const _meta of [5, null, [], meta]) assert.equal(isDirect(told(_meta)), false, JSON.stringify(_meta));
});
