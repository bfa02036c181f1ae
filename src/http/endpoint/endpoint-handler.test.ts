import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get } from 'node:http';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { type FastifyInstance, fastify } from 'fastify';
import { pino } from 'pino';
import { fail } from '../../errors/fail.ts';
import { Observations } from '../../observe/index.ts';
import { noFiles } from '../../records/testing/context.ts';
import type { Systems } from '../../systems/systems.ts';
import { Users } from '../../users/index.ts';
import { registerErrors } from '../plugins/errors.ts';
import { emptySystem } from '../testing/system.ts';
import type { Endpoint } from './endpoint.ts';
import { registerDataEndpoints } from './endpoint-handler.ts';
import { parseQueryString } from './parse-request.ts';
import type { HttpServices } from './services.ts';

const system = emptySystem();
const systems = {
  tryAcquire: (appId: string) => (appId === 'app' ? systems.acquire(appId) : undefined),
  acquire(appId: string) {
    if (appId === 'broken') throw new Error('no registry');
    if (appId === 'lost') return Promise.reject(new Error('no disk'));
    if (appId !== 'app') return appId === 'late' ? Promise.resolve(undefined) : undefined;
    system.hold();
    return system;
  },
} as unknown as Systems;
const services: HttpServices = {
  systems,
  users: new Users(1),
  resets: {} as HttpServices['resets'],
  files: {} as HttpServices['files'],
  functions: {} as HttpServices['functions'],
  imports: {} as HttpServices['imports'],
  hooks: { observers: [], rules: new Map(), files: noFiles },
  log: pino({ level: 'silent' }),
  conditions: { met() {}, over() {} },
  observations: new Observations(),
  trustProxy: false,
  addresses: { base: 'http://base' },
  fileViewer: async () => null,
  probe: async () => ({ nodes: 0, systems: 0 }),
};

let letGo = 0;
async function* endless(piece: string, failAt = Number.POSITIVE_INFINITY) {
  try {
    for (let n = 0; ; n++) {
      if (n === failAt) throw new Error('broken');
      await wait(1);
      yield piece;
    }
  } finally {
    letGo++;
  }
}
const endpoints: Endpoint[] = [
  { method: 'GET', path: '/endless', handle: async () => ({ status: 200, json: endless('x'.repeat(65_536)) }) },
  { method: 'GET', path: '/breaks', handle: async () => ({ status: 200, json: endless('x', 3) }) },
  { method: 'GET', path: '/late', handle: async () => fail('timeout') },
  { method: 'POST', path: '/late', handle: async () => fail('timeout') },
  { method: 'GET', path: '/login', open: true, handle: async () => fail('timeout') },
  { method: 'GET', path: '/fault', handle: () => fail('objectNotFound') },
  {
    method: 'GET',
    path: '/bug',
    handle: async () => ({ status: 200, json: String((null as unknown as { secret: string }).secret) }),
  },
  {
    method: 'GET',
    path: '/echo/:name',
    handle: async ({ params, query }) => ({ status: 200, json: JSON.stringify({ params, query: [...query] }) }),
  },
  { method: 'PUT', path: '/echo/:name', handle: async ({ body }) => ({ status: 200, json: JSON.stringify({ put: body }) }) },
  { method: 'POST', path: '/made', handle: async () => ({ status: 201, json: '{}', headers: { location: '/platform/made/1' } }) },
];

let server: FastifyInstance;
let url: string;
before(async () => {
  server = fastify({ routerOptions: { querystringParser: parseQueryString as never } });
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'string' }, (_request, text, done) => done(null, text));
  registerErrors(server, services);
  registerDataEndpoints(server, services, endpoints);
  url = await server.listen({ host: '127.0.0.1', port: 0 });
});
after(() => server.close());

const ask = async (path: string, init: RequestInit = {}) => {
  const response = await fetch(`${url}/platform${path}`, { headers: { 'X-Platform-Application-Id': 'app' }, ...init });
  return { status: response.status, location: response.headers.get('location'), body: await response.json() };
};
const settled = async (count: number) => {
  for (let n = 0; n < 200 && (system.held > 0 || letGo < count); n++) await wait(10);
  assert.deepEqual([system.held, letGo], [0, count]);
};

test('a client that goes away lets go of the answer and of the system', async () => {
  letGo = 0;
  const request = get(`${url}/platform/endless`, { headers: { 'X-Platform-Application-Id': 'app' } });
  const [answer] = await once(request, 'response');
  await once(answer, 'data');
  assert.equal(system.held, 1);
  request.destroy();
  await settled(1);
});
test('an answer that fails in the middle breaks the connection', async () => {
  letGo = 0;
  await assert.rejects(ask('/breaks'));
  await settled(1);
});
for (const [path, status, body] of [
  ['/late', 503, { code: 124, error: 'The query took too long and was ended.' }],
  ['/fault', 404, { code: 101, error: 'Object not found.' }],
  ['/bug', 500, { code: 1, error: 'server error' }],
  ['/echo/', 404, { error: 'Not found.' }],
] as const)
  test(`an error holds nothing: ${path}`, async () => {
    assert.deepEqual(await ask(path), { status, location: null, body });
    assert.equal(system.held, 0);
  });
for (const [method, path] of [
  ['POST', '/late'],
  ['GET', '/login'],
])
  test(`a write is never told that it took too long: ${method} ${path}`, async () => {
    const { status, body } = await ask(path as string, { method: method as string });
    assert.deepEqual([status, body], [503, { code: 1, error: 'server error: the service is not available now' }]);
    assert.equal(system.held, 0);
  });
for (const [appId, status] of [
  ['other', 403],
  ['late', 403],
  ['lost', 500],
] as const)
  test(`application id ${appId}: ${status}`, async () => {
    assert.equal((await ask('/late', { headers: { 'X-Platform-Application-Id': appId } })).status, status);
  });
test('a write that finds no registry is answered, though no log can hear of it', async () => {
  const { status, body } = await ask('/made', { method: 'POST', headers: { 'X-Platform-Application-Id': 'broken' } });
  assert.deepEqual([status, body], [500, { code: 1, error: 'server error' }]);
});
test('parameters of path and query', async () => {
  const { body } = await ask('/echo/a%20b?where=%7B%7D&limit=1');
  assert.deepEqual(body, {
    params: { name: 'a b' },
    query: [
      ['where', '{}'],
      ['limit', '1'],
    ],
  });
});
const over = (body: unknown, path = '/echo/a?limit=1') => ask(path, { method: 'POST', body: JSON.stringify(body) });
test('a POST may stand for a GET, with its parameters in the body', async () => {
  const { body } = await over({ _method: 'GET', where: { a: 1 } });
  assert.deepEqual(body, {
    params: { name: 'a' },
    query: [
      ['limit', '1'],
      ['where', { a: 1 }],
    ],
  });
});
test('a POST may stand for a PUT', async () => assert.deepEqual((await over({ _method: 'PUT', n: 1 })).body, { put: { n: 1 } }));
for (const [method, status] of [
  ['DELETE', 404],
  ['PATCH', 400],
  [5, 400],
  ['__proto__', 400],
  [null, 404],
] as const)
  test(`a POST that stands for ${method}: ${status}`, async () => assert.equal((await over({ _method: method })).status, status));
test('a location is of the address that clients see', async () => {
  assert.equal((await ask('/made', { method: 'POST' })).location, 'http://base/platform/made/1');
});
