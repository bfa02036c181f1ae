import assert from 'node:assert/strict';
import { request as ask } from 'node:http';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { pino } from 'pino';
import { fail } from '../../errors/fail.ts';
import type { FunctionCall } from '../../functions/index.ts';
import { Observations } from '../../observe/index.ts';
import { noFiles } from '../../records/testing/context.ts';
import type { HttpServices } from '../endpoint/services.ts';
import { HttpServer } from '../server.ts';
import { emptySystem } from '../testing/system.ts';

const system = emptySystem();
let brought: FunctionCall | undefined;
let asked = 0;
let finish = () => {};

/** Functions by name. */
const functions: Record<string, (call: () => FunctionCall | Promise<FunctionCall>) => Promise<string>> = {
  echo: async (call) => {
    brought = await call();
    return JSON.stringify(brought.input);
  },
  user: async (call) => JSON.stringify(await (await call()).user()),
  refusing: async () => fail('formDisabled', 'AcceptWebLeads'),
  bug: async () => String((null as unknown as { secret: string }).secret),
  hanging: () => new Promise((resolve) => (finish = () => resolve('"late"'))),
};

const services = {
  systems: {
    tryAcquire: () => undefined,
    acquire(appId: string) {
      if (appId === 'lost') return Promise.reject(new Error('no disk'));
      if (appId !== 'app') return undefined;
      system.hold();
      return Promise.resolve(system);
    },
  },
  functions: {
    async call(_system, name, call) {
      asked++;
      const found = Object.hasOwn(functions, name) ? functions[name] : undefined;
      return found ? found(call) : fail('userFunctionNotFound');
    },
  },
  users: {
    currentUser: async (_context: unknown, token: unknown) =>
      token === 'r:good' ? { objectId: 'dana', username: 'd' } : fail('invalidSession'),
  },
  hooks: { observers: [], rules: new Map(), files: noFiles },
  log: pino({ level: 'silent' }),
  conditions: { met() {}, over() {} },
  observations: new Observations(),
  trustProxy: false,
  addresses: { base: 'http://base' },
} as Partial<Record<keyof HttpServices, unknown>> & Pick<HttpServices, 'functions'> as unknown as HttpServices;

let http: HttpServer;
let url: string;
before(async () => {
  const rateLimits = { functions: 0, login: 0 };
  const options = { host: '127.0.0.1', port: 0, trustProxy: false, queryTimeout: 1_000, functionBodyBytes: 1_000, rateLimits };
  http = await HttpServer.create(services, options);
  url = await http.listen();
});
after(() => http.close(1_000));
beforeEach(() => {
  brought = undefined;
  asked = 0;
});

const idle = async () => {
  for (let n = 0; n < 200 && system.held > 0; n++) await wait(10);
  assert.equal(system.held, 0);
};
const call = async (name: string, init: RequestInit = {}) => {
  const answer = await fetch(`${url}/functions/${name}`, { method: 'POST', ...init });
  const body = await answer.text();
  await idle();
  return { status: answer.status, body: body === '' ? '' : JSON.parse(body), headers: answer.headers };
};
const form = { 'Content-Type': 'application/x-www-form-urlencoded' };

test('application id, then name, then body', async () => {
  const body = 'no JSON';
  for (const [path, status, error, calls] of [
    ['nobody/none', 403, 'unauthorized', 0],
    ['__proto__/echo', 403, 'unauthorized', 0],
    ['lost/echo', 500, 'server error', 0],
    ['app/', 404, 'Not found.', 0],
    ['/echo', 404, 'Not found.', 0],
    ['app/none', 400, 'User function not found', 1],
    ['app/echo', 400, 'Invalid JSON: the text is not JSON', 1],
  ] as const) {
    asked = 0;
    const answer = await call(path, { body });
    assert.deepEqual([answer.status, answer.body.error, asked], [status, error, calls], path);
  }
  const long = 'x'.repeat(1_001);
  for (const [path, status] of [
    ['nobody/none', 403],
    ['app/none', 400],
    ['app/echo', 413],
  ] as const)
    assert.equal((await call(path, { body: long })).status, status);
});
test('faults and refusals let go of the system', async () => {
  assert.deepEqual((await call('app/refusing')).body, { error: 'AcceptWebLeads is Disabled' });
  const { status, body } = await call('app/bug');
  assert.deepEqual([status, body], [500, { code: 1, error: 'server error' }]);
});
test('a function that hangs keeps the system, though the client has left', async () => {
  const sent = ask(`${url}/functions/app/hanging`, { method: 'POST' }).end();
  sent.on('error', () => {});
  while (asked === 0) await wait(5);
  sent.destroy();
  await wait(50);
  assert.equal(system.held, 1);
  finish();
  await idle();
});

for (const [what, init, input, isForm] of [
  ['JSON', { body: '{"a":1}' }, { a: 1 }, false],
  ['JSON of any type', { body: '{"a":1}', headers: { 'Content-Type': 'text/plain' } }, { a: 1 }, false],
  ['no body', {}, {}, false],
  ['no body, of a form', { headers: form }, {}, true],
  ['a form', { body: 'a=1&b=2&a=3', headers: form }, { a: ['1', '3'], b: '2' }, true],
  [
    'a form with parameters',
    { body: 'a=1', headers: { 'Content-Type': ' Application/X-WWW-Form-URLencoded ; charset=UTF-8' } },
    { a: '1' },
    true,
  ],
] as const)
  test(`input: ${what}`, async () => {
    assert.deepEqual((await call('app/echo?query=unread', init)).body, input);
    assert.equal(brought?.isForm, isForm);
    assert.equal(brought?.request.method, 'POST');
  });
test('input: the query of a GET', async () => {
  const { body, headers } = await call('app/echo?a=1&a=%2B2&_SessionToken=r:good&b#c', { method: 'GET' });
  assert.deepEqual(body, { a: ['1', '+2'], b: '' });
  assert.equal(headers.get('cache-control'), 'no-store');
  assert.equal(brought?.isForm, true);
  assert.equal(brought?.request.method, 'GET');
  assert.equal(await brought?.user(), null, 'an address carries no credential');
  assert.deepEqual((await call('app/echo', { method: 'GET' })).body, {});
});
for (const [what, init, error] of [
  ['an array', { body: '[]' }, /should be an object/],
  ['null', { body: 'null' }, /should be an object/],
  ['a form as JSON', { body: 'a=1' }, /not JSON/],
  ['NUL', { body: '{"a":"\\u0000"}' }, /NUL/],
  ['half of a surrogate pair', { body: '{"a":"\\ud800"}' }, /surrogate/],
  ['NUL in a form', { body: 'a=%00', headers: form }, /NUL/],
  ['multipart', { body: new FormData() }, /x-www-form-urlencoded or JSON/],
] as const)
  test(`107: ${what}`, async () => {
    const { status, body } = await call('app/echo', init);
    assert.deepEqual([status, body.code], [400, 107]);
    assert.match(body.error, error);
  });

test('a function sees the headers, but no credential', async () => {
  const secrets = [
    ['X-Platform-Master-Key', 'X-Platform-API-Key', 'X-Platform-Session-Token', 'X-Platform-JavaScript-Key'],
    ['Authorization', 'Proxy-Authorization', 'Cookie'],
  ].flat();
  const headers = Object.fromEntries(secrets.map((name) => [name, `secret of ${name}`]));
  await call('app/echo', { headers: { ...headers, 'X-Platform-Application-Id': 'other', 'X-Mine': 'x' } });
  assert.ok(brought);
  assert.doesNotMatch(JSON.stringify(brought), /secret of/);
  const { request } = brought;
  assert.deepEqual([request.headers['x-mine'], request.headers['x-platform-application-id']], ['x', 'other']);
  assert.deepEqual([request.ip, request.holdsKey], ['127.0.0.1', false], 'wrong keys are none');
});
test('credentials of the body are consumed; the user comes without their token', async () => {
  const body = JSON.stringify({ _SessionToken: 'r:good', _method: 'PUT', _mine: 1 });
  assert.deepEqual((await call('app/echo', { body })).body, { _mine: 1 });
  const dana = { objectId: 'dana', username: 'd' };
  assert.deepEqual((await call('app/user', { body })).body, dana);
  assert.deepEqual((await call('app/user', { body: '_SessionToken=r%3Agood', headers: form })).body, dana);
  assert.deepEqual((await call('app/user', { headers: { 'X-Platform-Session-Token': 'r:good' } })).body, dana);
  assert.equal((await call('app/user', { headers: { 'X-Platform-Session-Token': '' } })).body, null);
  assert.equal((await call('app/user', { headers: { 'X-Platform-Session-Token': 'r:ended' } })).body.code, 209);
});
