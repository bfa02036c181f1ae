import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertRefused, date, type Json, pointer } from '../support/records.ts';
import { anyEngine, type CallOptions, type Service, sampledEngines } from '../support/service.ts';
import {
  badSession,
  denied,
  isAlive,
  login,
  newSession,
  notFound,
  password,
  sessionRows,
  signUp,
  tokenForm,
  type User,
  userPointer,
} from '../support/users.ts';
import { useUnusedSystem } from '../systems/cli.ts';
import { SESSION_DAYS, useMailing } from './reset.ts';

const DAY = 86_400_000;

for (const engine of sampledEngines()) {
  describe(engine, () => {
    const store = useUnusedSystem(engine);
    const sessions = (method: string, id: string, options: CallOptions) =>
      store.call(method, `/platform/sessions${id && `/${id}`}`, options);
    const only = async (user: User): Promise<Json> => {
      const rows = await sessionRows(store, user);
      assert.equal(rows.length, 1);
      return rows[0];
    };

    test('Sessions: user, expiresAt, createdWith; one year; no token', async () => {
      const user = await signUp(store);
      const row = await only(user);
      assert.deepEqual(row.user, userPointer(user));
      assert.equal(row.createdWith.action, 'signup');
      assert.ok(!('sessionToken' in row));
      const lasts = Date.parse(row.expiresAt.iso) - Date.parse(row.createdAt);
      assert.ok(Math.abs(lasts - 365 * DAY) < 60_000, row.expiresAt.iso);
      await newSession(store, user);
      const [, second] = await sessionRows(store, user);
      assert.deepEqual(second.createdWith, { action: 'login', authProvider: 'password' });
    });

    test('Sessions: the lifetime does not slide', async () => {
      const user = await signUp(store);
      const before = await only(user);
      for (let i = 0; i < 3; i++) assert.ok(await isAlive(store, user.token));
      assert.deepEqual(await only(user), before);
    });

    test('Sessions: a user lists, reads and counts their own only', async () => {
      const [user, other] = [await signUp(store), await signUp(store)];
      const second = await newSession(store, user);
      const [own, ofOther] = [await sessionRows(store, user), await only(other)];
      for (const session of [user.token, second])
        for (const at of ['/platform/sessions', '/platform/classes/_Session']) {
          const { body, status, text } = await store.call('GET', at, { session, query: { count: 1 } });
          assert.equal(status, 200, text);
          assert.deepEqual(body.results, own);
          assert.equal(body.count, 2);
        }
      const where = { user: userPointer(other) };
      assert.deepEqual((await sessions('GET', '', { session: user.token, query: { where } })).body.results, []);
      assert.deepEqual((await sessions('GET', own[0].objectId, { session: second })).body, own[0]);
      assertRefused(await sessions('GET', ofOther.objectId, { session: user.token }), notFound);
    });

    test('Sessions: /sessions/me is the one of the token that is sent', async () => {
      const user = await signUp(store);
      const first = await only(user);
      const second = await newSession(store, user);
      assert.deepEqual((await sessions('GET', 'me', { session: user.token })).body, first);
      assert.notEqual((await sessions('GET', 'me', { session: second })).body.objectId, first.objectId);
      for (const as of ['anonymous', 'master'] as const) assertRefused(await sessions('GET', 'me', { as }), badSession);
    });

    test('Sessions: a user deletes their own, which is over at once; others are not found', async () => {
      const [user, other] = [await signUp(store), await signUp(store)];
      const { objectId } = await only(user);
      const second = await newSession(store, user);
      assertRefused(await sessions('DELETE', (await only(other)).objectId, { session: user.token }), notFound);
      assert.ok(await isAlive(store, other.token));
      const answer = await sessions('DELETE', objectId, { session: second });
      assert.equal(answer.status, 200, answer.text);
      assert.deepEqual([await isAlive(store, user.token), await isAlive(store, second)], [false, true]);
    });

    test('States/revocation: a session that a key deletes is over at once', async () => {
      for (const as of ['master', 'apiKey'] as const) {
        const user = await signUp(store);
        assert.ok(await isAlive(store, user.token));
        assert.equal((await sessions('DELETE', (await only(user)).objectId, { as })).status, 200);
        assertRefused(await store.call('GET', '/platform/users/me', { session: user.token }), badSession);
      }
    });

    for (const [field, value] of Object.entries({
      user: pointer('_User', 'someone000'),
      expiresAt: date('2999-01-01T00:00:00.000Z'),
      createdWith: { action: 'login' },
      installationId: 'other',
      sessionToken: `r:${'1'.repeat(32)}`,
      restricted: false,
    }))
      test(`Sessions: a user does not write ${field}, which the service keeps`, async () => {
        const [user, other] = [await signUp(store), await signUp(store)];
        const [own, ofOther] = [await only(user), await only(other)];
        const write = (id: string) => sessions('PUT', id, { session: user.token, body: { [field]: value } });
        assertRefused(await write(own.objectId), { code: 119 });
        const ofAnother = await write(ofOther.objectId);
        assert.ok([101, 119].includes(ofAnother.body.code), ofAnother.text);
        assert.deepEqual([await only(user), await only(other)], [own, ofOther]);
      });

    test('Sessions: no key makes a token of its own choice', async () => {
      const user = await signUp(store);
      const chosen = `r:${'2'.repeat(32)}`;
      const { objectId } = await only(user);
      assertRefused(await sessions('PUT', objectId, { body: { sessionToken: chosen } }), { code: [105, 119] });
      await sessions('POST', '', { body: { user: userPointer(user), sessionToken: chosen } });
      assert.equal(await isAlive(store, chosen), false);
    });

    test('Sessions: an ACL is 105', async () => {
      const user = await signUp(store);
      const before = await only(user);
      const ACL = { '*': { read: true } };
      assertRefused(await sessions('PUT', before.objectId, { body: { ACL } }), { code: 105 });
      assertRefused(await sessions('POST', '', { body: { user: userPointer(user), ACL } }), { code: 105 });
      assertRefused(await sessions('POST', '', { session: user.token, body: { ACL } }), { code: 105 });
      assert.deepEqual(await only(user), before);
    });

    const made = async (options: CallOptions, user: User) => {
      const answer = await sessions('POST', '', options);
      assert.equal(answer.status, 201, answer.text);
      assert.deepEqual(Object.keys(answer.body).sort(), ['createdAt', 'objectId', 'sessionToken']);
      assert.match(answer.body.sessionToken, tokenForm);
      const { body } = await store.call('GET', '/platform/users/me', { session: answer.body.sessionToken });
      assert.equal(body.objectId, user.id);
      return answer.body.sessionToken;
    };

    test('Sessions: POST makes another session of the caller', async () => {
      const user = await signUp(store);
      const token = await made({ session: user.token, body: {} }, user);
      assert.notEqual(token, user.token);
      assert.ok(await isAlive(store, user.token));
    });

    test('Sessions: POST makes one of the caller, never of another user', async () => {
      const [user, other] = [await signUp(store), await signUp(store)];
      const answer = await sessions('POST', '', { session: user.token, body: { user: userPointer(other) } });
      if (answer.status === 201) assert.ok(await isAlive(store, answer.body.sessionToken));
      assert.equal((await sessionRows(store, other)).length, 1);
    });

    for (const as of ['master', 'apiKey'] as const)
      test(`Sessions: POST with the ${as} makes one of user`, async () => {
        const user = await signUp(store);
        await made({ as, body: { user: userPointer(user) } }, user);
        const rows = (await sessions('GET', '', {})).body.results.length;
        for (const body of [{}, { user: pointer('_User', 'nobody0000') }, { user: pointer('_Role', user.id) }, { user: null }]) {
          const answer = await sessions('POST', '', { as, body });
          assert.ok(answer.status >= 400 && answer.status < 500, `${JSON.stringify(body)}: ${answer.text}`);
        }
        assert.equal((await sessions('GET', '', {})).body.results.length, rows);
      });

    test('Sessions: nobody has sessions without signing in', async () => {
      const { objectId } = await only(await signUp(store));
      for (const [method, id] of [
        ['GET', ''],
        ['GET', objectId],
      ] as const)
        assertRefused(await sessions(method, id, { as: 'anonymous' }), { code: [101, 119] });
      for (const [method, id] of [
        ['POST', ''],
        ['PUT', objectId],
        ['DELETE', objectId],
      ] as const)
        assertRefused(await sessions(method, id, { as: 'anonymous', body: {} }), { code: 119 });
    });

    test('Permissions: a user without a role gets 119 on every table but `_Session`', async () => {
      const { token } = await signUp(store);
      const { body } = await store.call('GET', '/platform/schemas');
      for (const { className } of body.results) {
        const answer = await store.call('GET', `/platform/classes/${className}`, { session: token });
        if (className === '_Session') assert.equal(answer.status, 200);
        else assertRefused(answer, denied('find', className));
      }
    });

    const at = (installation: string): CallOptions => ({ headers: { 'X-Platform-Installation-Id': installation } });

    test("a login with an installation id ends the user's earlier session of that installation", async () => {
      const [user, other] = [await signUp(store), await signUp(store)];
      const first = await newSession(store, user, at('phone'));
      const [elsewhere, ofOther] = [await newSession(store, user, at('desk')), await newSession(store, other, at('phone'))];
      const without = await newSession(store, user);
      const second = await newSession(store, user, at('phone'));
      assert.equal(await isAlive(store, first), false);
      for (const token of [elsewhere, ofOther, without, second, user.token]) assert.ok(await isAlive(store, token));
      const rows = await sessionRows(store, user, { installationId: 'phone' });
      assert.equal(rows.length, 1);
    });

    test('so it does by _InstallationId in the body, and a refused login ends none', async () => {
      const user = await signUp(store);
      const credentials = { username: user.username, password, _InstallationId: 'tablet' };
      const first = await login(store, credentials);
      assert.equal((await login(store, { ...credentials, password: 'wrong' })).status, 404);
      assert.ok(await isAlive(store, first.body.sessionToken));
      const second = await login(store, credentials);
      assert.equal(await isAlive(store, first.body.sessionToken), false);
      assert.ok(await isAlive(store, second.body.sessionToken));
    });
  });
}

for (const engine of anyEngine)
  describe(`${engine}: SESSION_DAYS`, () => {
    let service: Service;
    useMailing((running) => {
      service = running.service;
    }, engine);

    test('Records/Session lifetime: SESSION_DAYS changes it', async () => {
      const user = await signUp(service);
      await newSession(service, user);
      for (const row of await sessionRows(service, user)) {
        const lasts = Date.parse(row.expiresAt.iso) - Date.parse(row.createdAt);
        assert.ok(Math.abs(lasts - SESSION_DAYS * DAY) < 60_000, row.expiresAt.iso);
      }
    });
  });
