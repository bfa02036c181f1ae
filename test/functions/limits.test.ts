/** RATE_LIMIT_FUNCTIONS and RATE_LIMIT_LOGIN: requests a minute from one address, unlimited unless set. Reference: settings.md#settings. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { type Asked, ask } from '../support/files.ts';
import { type Service, startService } from '../support/service.ts';
import { newName, password, signUp } from '../support/users.ts';
import { bounds, useBounded, useEcho } from './echo.ts';

const tooMany = { code: 155, error: 'Too many requests. Try again later.' };

function useService(env: Record<string, string>): () => Service {
  let service: Service | undefined;
  before(async () => {
    service = await startService({ env });
  });
  after(() => service?.stop());
  return () => service as Service;
}

let addresses = 0;
/** Returns an address that no other test uses. */
const newAddress = (): string => `198.51.${(++addresses >> 8) & 255}.${addresses & 255}`;

/** Calls a form as a proxy does. */
const call = ({ url, appId }: Service, from: string, fn = 'getlead', asked: Asked = {}, app = appId) =>
  ask(`${url}/functions/${app}/${fn}`, {
    method: 'POST',
    body: '{"Email":"dana@example.com"}',
    ...asked,
    headers: { 'X-Forwarded-For': from, ...asked.headers },
  });

/** Executes calls one after the other; returns their statuses. */
async function statuses(calls: readonly (() => Promise<{ status: number }>)[]): Promise<number[]> {
  const found: number[] = [];
  for (const each of calls) found.push((await each()).status);
  return found;
}

function assertTooMany(answer: { status: number; body: unknown; headers: object }, header: string | null | undefined): void {
  assert.deepEqual([answer.status, answer.body], [429, tooMany]);
  assert.match(header ?? '', /^\d+$/, 'Retry-After: whole seconds');
  assert.ok(Number(header) >= 1 && Number(header) <= 60, String(header));
}

describe('no limit unless one is set', () => {
  const { service } = useEcho('sqlite');
  test('calls and logins', async () => {
    for (let n = 0; n < 100; n++) {
      const { status, headers } = await call(service(), '192.0.2.1', 'none');
      assert.equal(status, 400);
      assert.deepEqual(
        Object.keys(headers).filter((name) => /rate|retry/.test(name)),
        [],
        'no rate-limit headers',
      );
    }
    const reset = () => service().call('POST', '/platform/requestPasswordReset', { as: 'anonymous', body: { email: 'a@b.cd' } });
    assert.deepEqual(new Set(await statuses(Array.from({ length: 30 }, () => reset))), new Set([200]));
  });
});

describe('RATE_LIMIT_FUNCTIONS=3, behind a proxy', () => {
  const service = useService({ RATE_LIMIT_FUNCTIONS: '3', TRUST_PROXY: 'on' });

  test('three calls a minute from one address, then 429 with Retry-After', async () => {
    const from = newAddress();
    const calls = Array.from({ length: 3 }, () => () => call(service(), from));
    assert.deepEqual(await statuses(calls), [200, 200, 200]);
    for (let n = 0; n < 2; n++) {
      const answer = await call(service(), from, 'getlead', { headers: { Origin: 'https://forms.example' } });
      assertTooMany(answer, answer.headers['retry-after']);
      assert.equal(answer.headers['access-control-allow-origin'], 'https://forms.example');
      assert.match(String(answer.headers['access-control-expose-headers']), /Retry-After/);
      assert.ok(answer.headers['x-request-id']);
    }
    assert.equal((await call(service(), newAddress())).status, 200);
  });
  test('calls are counted before anything of them is looked at', async () => {
    const from = newAddress();
    assert.deepEqual(
      await statuses([
        () => call(service(), from, 'getlead', {}, 'nobody'),
        () => call(service(), from, 'none', { method: 'GET' }),
        () => call(service(), from, 'getlead', { body: '{' }),
        () => call(service(), from),
        () => call(service(), from, 'getlead', {}, 'nobody'),
        () => call(service(), from, 'getlead?Email=a@b.cd', { method: 'GET' }),
      ]),
      [403, 400, 400, 429, 429, 429],
    );
  });
  test('preflights, other methods and data endpoints are not counted', async () => {
    const from = newAddress();
    const headers = { Origin: 'https://forms.example', 'Access-Control-Request-Method': 'POST' };
    for (let n = 0; n < 5; n++) {
      assert.ok((await call(service(), from, 'getlead', { method: 'OPTIONS', headers })).status < 300);
      assert.equal((await call(service(), from, 'getlead', { method: 'PUT' })).status, 404);
      const login = await service().call('POST', '/platform/login', {
        as: 'anonymous',
        body: { username: newName(), password },
        headers: { 'X-Forwarded-For': from },
      });
      assert.equal(login.status, 404);
    }
    assert.equal((await call(service(), from)).status, 200);
  });
  for (const [what, same, other] of [
    [
      'IPv6: one /64',
      ['2001:db8:1:2::1', '2001:DB8:1:2:ffff::9', '[2001:db8:1:2::1]:443', '2001:db8:1:2:3:4:5:6'],
      '2001:db8:1:3::1',
    ],
    ['IPv4 as IPv6', ['203.0.113.7', '::ffff:203.0.113.7', '::ffff:cb00:7107', '203.0.113.7:8080'], '203.0.113.8'],
    ['what is no address', ['x', 'unknown', '_hidden', 'made up'], '203.0.113.9'],
  ] as const)
    test(`one address: ${what}`, async () => {
      assert.deepEqual(await statuses(same.map((from) => () => call(service(), from))), [200, 200, 200, 429]);
      assert.equal((await call(service(), other)).status, 200);
    });
  test('the answer comes while the body is sent', async () => {
    const from = newAddress();
    for (let n = 0; n < 3; n++) await call(service(), from);
    const headers = { 'X-Forwarded-For': from, 'Content-Length': '20000000' };
    const sent = request(`${service().url}/functions/${service().appId}/getlead`, { method: 'POST', headers, agent: false });
    sent.on('error', () => {});
    sent.write('{"Email":');
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    assert.deepEqual([answer.statusCode, answer.headers['retry-after'] !== undefined], [429, true]);
    sent.destroy();
  });
});

describe('whose word counts for an address', () => {
  const direct = useService({ RATE_LIMIT_FUNCTIONS: '3' });
  const behind = useBounded();
  test('without TRUST_PROXY the connection decides, whatever a header says', async () => {
    const calls = Array.from({ length: 4 }, () => () => call(direct(), newAddress()));
    assert.deepEqual(await statuses(calls), [200, 200, 200, 429]);
  });
  test('with TRUST_PROXY=loopback what a client puts before the address that the proxy adds is nothing', async () => {
    const calls = Array.from({ length: bounds.calls + 1 }, () => () => call(behind(), `${newAddress()}, 192.0.2.77`));
    assert.deepEqual(await statuses(calls), [...Array(bounds.calls).fill(200), 429]);
    assert.equal((await call(behind(), '192.0.2.78')).status, 200);
  });
});

describe('RATE_LIMIT_LOGIN=4, behind a proxy', () => {
  const service = useBounded();
  const post = (path: string, body: unknown, from: string) =>
    service().call('POST', `/platform/${path}`, { as: 'anonymous', body, headers: { 'X-Forwarded-For': from } });
  const nobody = () => ({ username: newName(), password });
  const item = (path: string, body: unknown) => ({ method: 'POST', path: `/platform/${path}`, body });

  test('logins by POST and GET and requests for a new password are counted together', async () => {
    const from = newAddress();
    const { username } = await signUp({ call: service().call });
    const query = { username, password };
    assert.deepEqual(
      await statuses([
        () => post('login', { username, password }, from),
        () => service().call('GET', '/platform/login', { as: 'anonymous', query, headers: { 'X-Forwarded-For': from } }),
        () => post('login', { _method: 'GET', ...nobody() }, from),
        () => post('requestPasswordReset', { email: 'nobody@example.com' }, from),
      ]),
      [200, 200, 404, 200],
    );
    for (const [path, body] of [
      ['login', { username, password }],
      ['login', { _method: 'GET', username, password }],
      ['login', {}],
      ['requestPasswordReset', { email: 'nobody@example.com' }],
    ] as const) {
      const answer = await post(path, body, from);
      assertTooMany(answer, answer.headers.get('retry-after'));
    }
    assert.equal((await post('login', { username, password }, newAddress())).status, 200);
  });
  test('a login in a batch counts like any other', async () => {
    const from = newAddress();
    const { username } = await signUp({ call: service().call });
    const requests = [
      item('login', nobody()),
      item('requestPasswordReset', { email: 'nobody@example.com' }),
      item('functions/none', {}),
      item('login', nobody()),
      item('login', { username, password }),
      item('login', { username, password }),
      item('requestPasswordReset', { email: 'nobody@example.com' }),
    ];
    const { status, body } = await post('batch', { requests }, from);
    assert.equal(status, 200);
    assert.deepEqual(
      body.map(({ success, error }: { success?: object; error?: { code: number } }) => error?.code ?? typeof success),
      [101, 'object', 141, 101, 'object', 155, 155],
    );
    assert.deepEqual(body[5], { error: tooMany });
    assert.equal((await post('login', { username, password }, from)).status, 429);
  });
  test('nothing else is counted, nor refused', async () => {
    const from = newAddress();
    const headers = { 'X-Forwarded-For': from };
    const { token } = await signUp({ call: service().call });
    const others = [
      () => service().call('GET', '/platform/users/me', { session: token, headers }),
      () => call(service(), from),
      () => service().call('GET', '/platform/classes/Accounts', { headers }),
    ];
    const all = Array.from({ length: 3 }, () => others).flat();
    assert.deepEqual(new Set(await statuses(all)), new Set([200]));
    for (let n = 0; n < 5; n++) await post('login', nobody(), from);
    assert.equal((await post('login', nobody(), from)).status, 429);
    assert.deepEqual(new Set(await statuses(all)), new Set([200]));
  });
  test('who is refused learns nothing of a password, and no attempt of the user is counted', async () => {
    const { username } = await signUp({ call: service().call });
    const from = newAddress();
    for (let n = 0; n < 4; n++) await post('login', nobody(), from);
    for (let n = 0; n < 10; n++) assert.equal((await post('login', { username, password: 'Wrong-1' }, from)).status, 429);
    assert.equal((await post('login', { username, password }, newAddress())).status, 200, 'not locked');
  });
});
