import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertRefused, useStore } from '../support/records.ts';
import { type Answer, sampledEngines } from '../support/service.ts';
import {
  badLogin,
  changeUser,
  failedLogins,
  failLogins,
  isAlive,
  locked,
  login,
  newName,
  newSession,
  notActive,
  otherPassword,
  password,
  signUp,
  type User,
  wrong,
} from '../support/users.ts';

for (const engine of sampledEngines())
  describe(engine, () => {
    const store = useStore(engine);
    const attempt = (user: User, secret: string) => login(store, { username: user.username, password: secret });
    const lock = async (fields: object = {}) => {
      const user = await signUp(store, fields);
      for (const answer of await failLogins(store, user.username, 8)) assertRefused(answer, badLogin);
      return user;
    };

    test('States/Failed login: counted in _failed_login_count; a successful one sets it to 0', async () => {
      const user = await signUp(store);
      for (const count of [1, 2, 3]) {
        assertRefused(await attempt(user, wrong), badLogin);
        assert.equal(await failedLogins(store, user), count);
      }
      const { body } = await attempt(user, password);
      assert.equal(body._failed_login_count, 0);
      assert.equal(await failedLogins(store, user), 0);
    });

    test('States/8 consecutive failed logins: seven are not eight, and a success starts the count again', async () => {
      const user = await signUp(store);
      for (let round = 0; round < 2; round++) {
        await failLogins(store, user.username, 7);
        assert.equal(await failedLogins(store, user), 7);
        assert.equal((await attempt(user, password)).status, 200);
      }
    });

    test('States/locked: every attempt, even with the right password, returns the lock error; none is counted', async () => {
      const user = await lock();
      assert.equal(await failedLogins(store, user), 8);
      assertRefused(await attempt(user, password), locked);
      assertRefused(await attempt(user, wrong), locked);
      assertRefused(await attempt(user, password), locked);
      assert.equal(await failedLogins(store, user), 8);
    });

    test('States/locked: neither open sessions nor other users are touched', async () => {
      const other = await signUp(store);
      const user = await lock();
      assert.ok(await isAlive(store, user.token));
      assert.equal((await attempt(other, password)).status, 200);
      assert.equal(await failedLogins(store, other), 0);
    });

    test('names that nobody has are never locked', async () => {
      const username = newName();
      for (const answer of await failLogins(store, username, 10)) assertRefused(answer, badLogin);
      const user = await signUp(store, { username });
      assert.equal((await attempt(user, password)).status, 200);
    });

    test('States/locked: the lock comes before `User is not active.`', async () => {
      const user = await lock({ active: false });
      assertRefused(await attempt(user, password), locked);
      await changeUser(store, user, { _failed_login_count: 0 });
      assertRefused(await attempt(user, password), notActive);
    });

    test('`_failed_login_count: 0` written with a key unlocks', async () => {
      const user = await lock();
      await changeUser(store, user, { _failed_login_count: 0 });
      assertRefused(await attempt(user, wrong), badLogin);
      assert.equal(await failedLogins(store, user), 1);
      assert.equal((await attempt(user, password)).status, 200);
    });

    test('Users/Update user: a new `password` resets it, which unlocks', async () => {
      const user = await lock();
      await changeUser(store, user, { password: otherPassword });
      assert.equal((await attempt(user, otherPassword)).status, 200);
      assert.equal(await failedLogins(store, user), 0);
    });

    test('States/locked: the same name in whatever form is locked, on whatever way', async () => {
      const email = `${newName()}@example.com`;
      const user = await lock({ email });
      const { appId, url } = store.service();
      const plain = async (body: object): Promise<Answer> => {
        const sent = JSON.stringify({ _ApplicationId: appId, ...body });
        const answer = await fetch(`${url}/platform/login`, { method: 'POST', body: sent });
        const text = await answer.text();
        return { status: answer.status, headers: answer.headers, text, body: JSON.parse(text) };
      };
      const { username } = user;
      const ways: Record<string, () => Promise<Answer>> = {
        'other case': () => login(store, { username: username.toUpperCase(), password }),
        'spaces around': () => login(store, { username: `\t ${username} `, password }),
        'the e-mail address': () => login(store, { email, password }),
        'the e-mail address in other case': () => login(store, { email: ` ${email.toUpperCase()}`, password }),
        GET: () => store.call('GET', '/platform/login', { as: 'anonymous', query: { username, password } }),
        'GET by e-mail address': () => store.call('GET', '/platform/login', { as: 'anonymous', query: { email, password } }),
        'text/plain': () => plain({ username, password }),
        '_method GET': () => plain({ username, password, _method: 'GET' }),
        'the master key': () => login(store, { username, password }, { as: 'master' }),
        'the API key': () => login(store, { username, password }, { as: 'apiKey' }),
        'an open session': () => login(store, { username, password }, { session: user.token }),
        'an installation': () => login(store, { username, password }, { headers: { 'X-Platform-Installation-Id': 'i' } }),
      };
      for (const [way, ask] of Object.entries(ways)) {
        const answer = await ask();
        assert.equal(answer.body?.error, locked.error, way);
      }
      assert.equal(await failedLogins(store, user), 8);
    });

    test('States/Failed login: attempts in whatever form count for the same user', async () => {
      const email = `${newName()}@example.com`;
      const user = await signUp(store, { email });
      const { username } = user;
      await login(store, { username: username.toUpperCase(), password: wrong });
      await login(store, { username: ` ${username}`, password: wrong });
      await login(store, { email, password: wrong });
      await login(store, { email: email.toUpperCase(), password: wrong });
      await store.call('GET', '/platform/login', { as: 'anonymous', query: { username, password: wrong } });
      await login(store, { username, password: wrong }, { as: 'master' });
      assert.equal(await failedLogins(store, user), 6);
    });

    test('States/locked: a batch is no way around it', async () => {
      const user = await lock();
      const requests = [{ method: 'POST', path: '/platform/login', body: { username: user.username, password } }];
      for (const as of ['anonymous', 'master'] as const) {
        const answer = await store.call('POST', '/platform/batch', { as, body: { requests } });
        assert.doesNotMatch(answer.text, /r:[0-9a-f]{32}/);
        if (answer.status === 200) assert.equal(answer.body[0].error.error, locked.error);
        else assertRefused(answer, { code: 107, error: 'cannot route POST /platform/login' });
      }
    });

    test('States/locked: no session user unlocks the own account', async () => {
      const user = await lock();
      const session = user.token;
      const body = { _failed_login_count: 0 };
      assertRefused(await store.call('PUT', `/platform/users/${user.id}`, { session, body }), { code: 206 });
      assertRefused(await attempt(user, password), locked);
    });

    test('a token that was given before stays the only one after failed attempts', async () => {
      const user = await signUp(store);
      const token = await newSession(store, user);
      await failLogins(store, user.username, 2);
      assert.ok(await isAlive(store, token));
    });
  });
