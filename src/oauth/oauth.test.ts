import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, mock, test } from 'node:test';
import { type FastifyInstance, fastify } from 'fastify';
import { serviceError } from '../errors/fail.ts';
import { renderError } from '../errors/render.ts';
import { TooManyRequests } from '../errors/too-many-requests.ts';
import type { Store } from '../storage/port.ts';
import { addressesOf } from '../storage/sql/testing/addresses.ts';
import { SqliteEngine } from '../storage/sqlite/engine.ts';
import { entryOf } from '../storage/testing/entry.ts';
import { System, type Systems } from '../systems/index.ts';
import { Registration } from '../systems/system.ts';
import { openMigrated } from '../systems/testing/open.ts';
import type { Fetch } from './clients/ssrf-safe-fetch.ts';
import { type AddressCounter, OAuth } from './oauth.ts';

const base = 'http://service.test';
const directory = mkdtempSync(join(tmpdir(), 'rds-oauth-'));
let engine: SqliteEngine;
let store: Store;
let server: FastifyInstance;
/** Clients' metadata documents by URL, and how often each was fetched. */
let documents: Map<string, () => Response>;
let fetched: string[];
let system: System;
let oauth: OAuth;

const entry = entryOf('app', { name: 'The <System>' });

const fetchDocument: Fetch = async (address) => {
  fetched.push(address);
  const document = documents.get(address);
  if (!document) throw new Error('nobody is there');
  return document();
};

before(async () => {
  engine = new SqliteEngine(directory, { timeLimit: 10_000, report: assert.fail, addressesOf });
  store = await openMigrated(engine, 'app');
});
beforeEach(async () => {
  documents = new Map();
  fetched = [];
  await server?.close();
  // Issuers are cached by system object.
  system = new System(new Registration(entry, [], 'salt'), store);
  server = await serve();
});
after(async () => {
  await server.close();
  await store.close();
  await engine.close();
  rmSync(directory, { recursive: true });
});

/** A process that serves the system. */
async function serve(limitOf: (max: number) => AddressCounter | null = () => null): Promise<FastifyInstance> {
  const server = fastify({
    routerOptions: { querystringParser: (text) => new Map(new URLSearchParams(text)) as unknown as Record<string, unknown> },
  });
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'string' }, (_request, text, done) => done(null, text));
  const acquire = (appId: string) => {
    if (appId !== 'app') return undefined;
    system.hold();
    return system;
  };
  oauth = new OAuth({
    systems: { acquire, enter: acquire } as unknown as Systems,
    observations: { observe() {} },
    conditions: { met() {} },
    addresses: {
      get base() {
        return base;
      },
    },
    secret: 'secret',
    rateLimits: { login: 0 },
    limitOf,
    fetch: fetchDocument,
  });
  await oauth.register(server);
  return server;
}

const published = 'https://client.example.com/agent.json';
const documentOf = (more: object = {}) => ({
  client_id: published,
  client_name: 'Published agent',
  redirect_uris: ['https://client.example.com/back'],
  ...more,
});
const publish = (document: unknown, init?: ResponseInit, at = published) => {
  const text = typeof document === 'string' ? document : JSON.stringify(document);
  documents.set(at, () => new Response(text, { headers: { 'content-type': 'application/json' }, ...init }));
};
const begin = async (clientId = published, redirect = 'https://client.example.com/back') => {
  const query = new URLSearchParams({
    ...{ response_type: 'code', client_id: clientId, redirect_uri: redirect },
    ...{ code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' },
  });
  return server.inject({ url: `/oauth/app/authorize?${query}`, headers: { accept: 'text/html' } });
};

/** The page to which a browser is redirected. */
const show = ({ headers }: Awaited<ReturnType<typeof begin>>, at = server) => {
  const cookie = [headers['set-cookie'] ?? []].flat().map((line) => line.split(';')[0]);
  return at.inject({ url: String(headers.location).slice(base.length), headers: { cookie: cookie.join('; ') } });
};

test('a client may be the address of its own document, and is named by it', async () => {
  publish(
    documentOf({
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'urn:x'],
      scope: 'mcp:view',
      jwks_uri: 'https://10.0.0.1',
    }),
  );
  const answer = await begin();
  assert.equal(answer.statusCode, 303, answer.body);
  const shown = await show(answer);
  assert.equal(shown.statusCode, 200, shown.body);
  for (const text of [/Published agent/, /published at <bdi dir="ltr"><strong>client\.example\.com</, /The &lt;System&gt;/])
    assert.match(shown.body, text);
  await begin();
  assert.deepEqual(fetched, [published], 'it is remembered');
  assert.equal(system.isFree, true);
});

test('a document that says nothing of secrets is of a client without one', async () => {
  publish(documentOf());
  assert.equal((await begin()).statusCode, 303);
});

test('an address is one however its scheme is written', async () => {
  const loud = published.replace('https', 'HTTPS');
  publish(documentOf({ client_id: loud }), {}, loud);
  const answer = await begin(loud);
  assert.equal(answer.statusCode, 303, answer.body);
  assert.match((await show(answer)).body, /published at <bdi dir="ltr"><strong>client\.example\.com</);
});

test('a document that is read again for a page is counted too', async () => {
  publish(documentOf());
  const answer = await begin();
  const counted: string[] = [];
  const count = (address: string) => {
    counted.push(address);
    throw new TooManyRequests(7);
  };
  // Another process has not read it yet.
  const other = await serve(() => ({ count }));
  const { statusCode, headers, body } = await show(answer, other);
  assert.deepEqual([statusCode, headers['retry-after'], counted], [429, '7', ['127.0.0.1']]);
  assert.match(body, /Too many requests/);
  assert.deepEqual(fetched, [published]);
  assert.equal((await show(answer)).statusCode, 200, 'what is known needs no reading');
  await other.close();
});

test('a provider that could not be made is made by the next request', async () => {
  publish(documentOf());
  // The module is loaded by now; a failed import would be permanent.
  await import('./provider.ts');
  const broken = mock.method(Object, 'defineProperties', () => {
    throw new Error('not now');
  });
  const first = await begin();
  broken.mock.restore();
  assert.equal(first.statusCode, 500);
  assert.equal((await begin()).statusCode, 303);
});

for (const [what, document, init] of [
  ['names another client', documentOf({ client_id: 'https://client.example.com/other.json' })],
  ['leads elsewhere', documentOf({ redirect_uris: ['https://other.example.com/back'] })],
  ['has codes sent over http', documentOf({ redirect_uris: ['https://client.example.com/back', 'http://client.example.com/'] })],
  ['has a secret', documentOf({ client_secret: 'x' })],
  ['wants a secret', documentOf({ token_endpoint_auth_method: 'client_secret_basic' })],
  ['is no JSON', '<html>'],
  ['is a list', []],
  ['is too large', documentOf({ client_uri: `https://a.test/${'x'.repeat(20_000)}` })],
  ['is not found', documentOf(), { status: 404 }],
  ['lies elsewhere', '', { status: 302, headers: { location: 'http://127.0.0.1/' } }],
] as const)
  test(`a document that ${what} makes no client`, async () => {
    publish(document, init);
    const answer = await begin();
    assert.equal(answer.headers.location, undefined);
    assert.ok(answer.statusCode >= 400 && answer.statusCode < 500, `${answer.statusCode}`);
    assert.match(answer.body, /This request cannot be answered/);
  });

for (const address of [
  'https://127.0.0.1/x',
  'https://localhost/x',
  'https://169.254.169.254/x',
  'https://[fd00::1]/x',
  'http://client.example.com/x',
])
  test(`${address} is never fetched`, async () => {
    const answer = await begin(address);
    assert.ok(answer.statusCode >= 400 && answer.statusCode < 500);
    assert.deepEqual(fetched, []);
  });

test('a token of nobody is unknown', async () => {
  assert.deepEqual(await oauth.bearer(system, 'nothing'), { kind: 'unknown' });
});

test('a system that cannot be reached is the service’s fault, and no page of the provider', async () => {
  const answer = await server.inject({ url: '/oauth/nobody/token', method: 'POST', payload: 'x' });
  assert.deepEqual([answer.statusCode, answer.json().error], [404, 'Not found.']);
});

test('a store that is away: 503 with Retry-After, as a page and as JSON; a write in doubt is reported as such', async () => {
  publish(documentOf());
  const registration = { redirect_uris: ['https://client.example.com/back'], token_endpoint_auth_method: 'none' };
  const register = () => server.inject({ method: 'POST', url: '/oauth/app/register', payload: registration });
  for (const key of ['unavailable', 'outcomeUnknown'] as const) {
    const write = mock.method(store, 'write', () => Promise.reject(serviceError(key)));
    const [page, answer] = [await begin(), await register()];
    write.mock.restore();
    for (const { statusCode, headers } of [page, answer]) assert.deepEqual([statusCode, headers['retry-after']], [503, '2']);
    assert.match(String(page.headers['content-type']), /^text\/html/);
    assert.equal(answer.body, renderError(serviceError(key)).json);
  }
  assert.equal((await register()).statusCode, 201);
});

test('a request that has written before it meets a fault is in doubt; a read of it that takes too long is no fault of ours', async () => {
  const registration = { redirect_uris: ['https://client.example.com/back'], token_endpoint_auth_method: 'none' };
  const register = () => server.inject({ method: 'POST', url: '/oauth/app/register', payload: registration });
  // The limit of clients is checked after the client is stored.
  const find = mock.method(store.reader, 'find', () => Promise.reject(serviceError('unavailable')));
  const half = await register();
  find.mock.restore();
  assert.deepEqual([half.statusCode, half.body], [503, renderError(serviceError('outcomeUnknown')).json]);
  const write = mock.method(store, 'write', () => Promise.reject(serviceError('timeout')));
  const late = await register();
  write.mock.restore();
  assert.deepEqual([late.statusCode, late.body], [503, renderError(serviceError('unavailable')).json]);
});
