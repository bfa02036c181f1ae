/**
 * The session is a cookie that is valid below `/console/` only; a second cookie opens private files to GET and HEAD. Reference:
 * console.md#sign-in-to-the-console.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { pointer } from '../../client/src/index.ts';
import { crmOf } from '../support/client.ts';
import { Visitor } from '../support/console.ts';
import { storeOf, unique } from '../support/records.ts';
import { anyEngine, type Service, startService } from '../support/service.ts';
import { sharedService } from '../support/shared.ts';
import { soon } from '../support/soon.ts';
import { newRole, otherPassword, password, signUp, wrong } from '../support/users.ts';

/** Returns a visitor who has signed in as a new user. */
async function signedIn(service: Service) {
  const user = await signUp(service);
  const visitor = new Visitor(service);
  await visitor.signIn(user.username);
  return { user, visitor };
}

const session = (visitor: Visitor) => visitor.cookies.get('console.session.testapp');
const files = (visitor: Visitor) => visitor.cookies.get('console.files.testapp');

for (const engine of anyEngine) {
  describe(engine, () => {
    test('sign-in answers who it is, and gives two cookies that no script reads', async () => {
      const service = await sharedService(engine);
      const user = await signUp(service);
      const visitor = new Visitor(service);
      const answer = await visitor.api('POST', 'session', { body: { username: user.username, password } });
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.body.objectId, user.id);
      assert.equal(answer.body.username, user.username);
      for (const [cookie, path] of [
        [session(visitor), '/console/'],
        [files(visitor), '/platform/files/testapp/'],
      ] as const) {
        assert.match(cookie?.line ?? '', /; HttpOnly/);
        assert.match(cookie?.line ?? '', /; SameSite=Lax/);
        assert.doesNotMatch(cookie?.line ?? '', /Secure|Domain/);
        assert.equal(cookie?.path, path);
      }
      for (const secret of [session(visitor), files(visitor)]) assert.ok(!answer.text.includes(secret?.value ?? 'none'));
    });

    test('its session is a row of _Session, which ends with it', async () => {
      const service = await sharedService(engine);
      const { user, visitor } = await signedIn(service);
      const rows = async () => {
        const { results } = await crmOf(service)
          .table('_Session')
          .find({ where: { user: pointer('_User', user.id) } });
        return results.filter((row) => row.createdWith?.client === 'console');
      };
      const made = await rows();
      assert.equal(made.length, 1);
      assert.ok(!JSON.stringify(made).includes(session(visitor)?.value ?? 'none'));
      const hours = (Date.parse(made[0]?.expiresAt.iso) - Date.now()) / 3_600_000;
      assert.ok(hours > 11 && hours <= 12, `${hours}`);
      assert.equal((await visitor.api('GET', 'me')).status, 200);
      assert.equal((await visitor.api('DELETE', 'session')).status, 200);
      assert.equal(session(visitor), undefined);
      assert.equal(files(visitor), undefined);
      assert.deepEqual(await rows(), []);
      assert.equal((await visitor.api('GET', 'me')).body.code, 209);
    });

    test('who has only signed in can be deleted', async () => {
      const service = await sharedService(engine);
      const { user, visitor } = await signedIn(service);
      await visitor.api('DELETE', 'session');
      // The request log is written shortly afterwards.
      await soon(async () => {
        const where = { path: `/console/-/api/${service.appId}/session`, method: 'DELETE' };
        const { results } = await crmOf(service).table('_RequestLog').find({ where, limit: 1, order: '-createdAt' });
        assert.equal(results.length, 1);
      }, 10_000);
      await crmOf(service).table('_User').delete(user.id);
    });

    test('a cookie of a session that ended, and one that is none, are 209; so is none at all', async () => {
      const service = await sharedService(engine);
      const { visitor } = await signedIn(service);
      const kept = session(visitor)?.value ?? '';
      await visitor.api('DELETE', 'session');
      for (const value of [kept, 'c:0', `c:${'0'.repeat(64)}`, `r:${'0'.repeat(32)}`, '', '%00', 'x'.repeat(5_000)]) {
        const stranger = new Visitor(service);
        const answer = await stranger.api('GET', 'me', { headers: { cookie: `console.session.testapp=${value}` } });
        assert.equal(answer.body.code, 209, value.slice(0, 80));
      }
      assert.equal((await new Visitor(service).api('GET', 'me')).body.code, 209);
    });

    test('a user who is blocked, or has another password, is out at the next request', async () => {
      const service = await sharedService(engine);
      for (const change of [{ active: false }, { password: otherPassword }]) {
        const { user, visitor } = await signedIn(service);
        assert.equal((await visitor.api('GET', 'me')).status, 200);
        await crmOf(service).table('_User').update(user.id, change);
        assert.equal((await visitor.api('GET', 'me')).body.code, 209);
      }
    });

    test('a role that is given or taken counts at the next request', async () => {
      const service = await sharedService(engine);
      const { user, visitor } = await signedIn(service);
      assert.deepEqual((await visitor.api('GET', 'me')).body.roles, []);
      const role = await newRole(service, [user]);
      assert.deepEqual((await visitor.api('GET', 'me')).body.roles, [role.name]);
    });

    test('no other address takes its cookies or their values', async () => {
      const service = await sharedService(engine);
      const { visitor } = await signedIn(service);
      const all = [...visitor.cookies].map(([name, { value }]) => `${name}=${value}`).join('; ');
      const table = unique('T');
      const named = { 'x-platform-application-id': service.appId };
      for (const [method, path] of [
        ['GET', '/platform/users/me'],
        ['GET', '/platform/schemas'],
        ['GET', '/platform/sessions/me'],
        ['POST', `/platform/classes/${table}`],
        ['POST', '/platform/logout'],
      ] as const) {
        const answer = await visitor.send(method, path, {
          headers: { ...named, cookie: all },
          ...(method === 'POST' && { body: {} }),
        });
        assert.ok(answer.status >= 400, `${method} ${path}: ${answer.status}`);
        for (const secret of [session(visitor)?.value ?? '', files(visitor)?.value ?? '']) {
          const headers = { ...named, 'x-platform-session-token': secret };
          const taken = await visitor.send(method, path, { headers, ...(method === 'POST' && { body: {} }) });
          assert.equal(taken.body.code, 209, `${method} ${path}`);
        }
      }
      const tool = {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'Get-Data', arguments: { table: 'Accounts' } },
      };
      const called = await visitor.send('POST', `/mcp/${service.appId}`, { body: tool, headers: { cookie: all } });
      assert.equal(called.status, 403);
    });

    test('the second cookie opens a private file to GET and HEAD, and to nothing else', async () => {
      const service = await sharedService(engine);
      const store = storeOf(() => service);
      const { user, visitor } = await signedIn(service);
      const role = await newRole(service, [user]);
      const table = await store.table({ F: 'PrivateFile' });
      const only = { [`role:${role.name}`]: true };
      const crm = crmOf(service);
      await crm.request('PUT', `schemas/${table}`, { body: { classLevelPermissions: { get: only, find: only } } });
      const file = await crm.files.upload('note.txt', 'private words', { contentType: 'text/plain' });
      const { objectId } = await crm.table(table).create({ F: file });
      const path = `/platform/files/testapp/${file.name}/${table}/${objectId}/F`;
      const read = await visitor.send('GET', path);
      assert.equal(read.status, 200, read.text);
      assert.equal(read.text, 'private words');
      assert.match(String(read.headers['cache-control']), /private|no-store/);
      assert.equal((await visitor.send('HEAD', path)).status, 200);
      assert.equal((await visitor.send('POST', path, { body: {} })).status, 302);
      assert.equal((await new Visitor(service).send('GET', path)).status, 302);
      // If the request carries a credential, only that is used.
      assert.equal((await visitor.send('GET', path, { headers: { 'x-platform-session-token': 'r:wrong' } })).status, 302);
      const other = await signedIn(service);
      assert.equal((await other.visitor.send('GET', path)).status, 302);
      for (const forged of [
        `${files(visitor)?.value}x`,
        files(visitor)?.value.replace(/\..*/, `.${'A'.repeat(43)}`) ?? '',
        'x.y',
      ])
        assert.equal((await visitor.send('GET', path, { headers: { cookie: `console.files.testapp=${forged}` } })).status, 302);
      const kept = `console.files.testapp=${files(visitor)?.value}`;
      await visitor.api('DELETE', 'session');
      assert.equal((await visitor.send('GET', path, { headers: { cookie: kept } })).status, 302);
    });

    test('wrong passwords lock the user, as everywhere', async () => {
      const service = await sharedService(engine);
      const user = await signUp(service);
      const visitor = new Visitor(service);
      const attempt = (secret: string) => visitor.api('POST', 'session', { body: { username: user.username, password: secret } });
      for (let count = 0; count < 8; count++) assert.match((await attempt(wrong)).body.error, /Invalid username/);
      assert.match((await attempt(password)).body.error, /locked .* 30 minute/);
      assert.equal(session(visitor), undefined);
    });

    test('a user changes the password: other sessions end, this one goes on', async () => {
      const service = await sharedService(engine);
      const { user, visitor } = await signedIn(service);
      const elsewhere = new Visitor(service);
      await elsewhere.signIn(user.username);
      const change = (oldPassword: unknown, newPassword: unknown) =>
        visitor.api('PUT', 'me/password', { body: { oldPassword, newPassword } });
      assert.equal((await change(wrong, otherPassword)).body.code, 101);
      assert.equal((await change(password, 'short')).body.code, 142);
      assert.equal((await change(password, '')).body.code, 201);
      assert.equal((await change(password, { $gt: '' })).body.code, 201);
      const before = session(visitor)?.value;
      assert.equal((await change(password, otherPassword)).status, 200);
      assert.notEqual(session(visitor)?.value, before);
      assert.equal((await visitor.api('GET', 'me')).status, 200);
      assert.equal((await elsewhere.api('GET', 'me')).body.code, 209);
      assert.equal((await service.call('GET', '/platform/users/me', { session: user.token })).body.code, 209);
      await new Visitor(service).signIn(user.username, otherPassword);
    });
  });
}

test('one address may try so many passwords a minute, unless RATE_LIMIT_LOGIN says otherwise', async () => {
  for (const [env, max] of [
    [{}, 60],
    [{ RATE_LIMIT_LOGIN: '2' }, 2],
  ] as const) {
    const service = await startService({ engine: anyEngine[0] ?? 'sqlite', env: { ...env } });
    const visitor = new Visitor(service);
    const attempt = () => visitor.api('POST', 'session', { body: { username: 'nobody', password: '' } });
    for (let count = 0; count < max; count++) assert.equal((await attempt()).body.code, 201);
    const refused = await attempt();
    assert.equal(refused.body.code, 155);
    assert.ok(Number(refused.headers['retry-after']) > 0);
    await service.stop();
  }
});

test('BASE_URL decides whether cookies are for https alone', async () => {
  for (const [BASE_URL, isSecure, path] of [
    ['https://crm.example.com/service', true, '/service/console/'],
    ['http://crm.example.com', true, '/console/'],
    // As in gate.test.ts, which shares its service.
    ['http://localhost:8080/service', false, '/service/console/'],
  ] as const) {
    const service = await sharedService(anyEngine[0] ?? 'sqlite', { BASE_URL });
    const user = await signUp(service);
    const visitor = new Visitor(service);
    await visitor.signIn(user.username);
    const cookie = visitor.cookies.get(isSecure ? '__Secure-console.session.testapp' : 'console.session.testapp');
    assert.equal(cookie?.path, path, BASE_URL);
    assert.equal(/; Secure/.test(cookie?.line ?? ''), isSecure, BASE_URL);
  }
});
