import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { assertRefused, type Json, type Refusal, useStore } from '../support/records.ts';
import { sampledEngines } from '../support/service.ts';
import {
  badLogin,
  changeUser,
  failedLogins,
  isAlive,
  login,
  newName,
  newSession,
  notActive,
  otherPassword,
  password,
  signUp,
  tokenForm,
  type User,
  wrong,
} from '../support/users.ts';

for (const engine of sampledEngines())
  describe(engine, () => {
    const store = useStore(engine);
    const email = `${newName()}@Example.com`;
    let dana: User;
    before(async () => {
      dana = await signUp(store, { email, name: 'Dana' });
    });
    const signedIn = (answer: { status: number; text: string; body: Json }, user = dana) => {
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.body.objectId, user.id);
      assert.match(answer.body.sessionToken, tokenForm);
    };

    test('Users/Log in: the user object with these fields, and sessionToken', async () => {
      const answer = await login(store, { username: dana.username, password });
      signedIn(answer);
      const { body } = answer;
      for (const name of ['createdAt', 'updatedAt', 'createdBy', 'updatedBy', 'ACL']) assert.ok(body[name], name);
      assert.deepEqual([body.username, body.email, body.name, body._failed_login_count], [dana.username, email, 'Dana', 0]);
      assert.equal(body.last_success_login.__type, 'Date');
      assert.ok(!('password' in body));
      for (const name of Object.keys(body)) assert.ok(name === '_failed_login_count' || !name.startsWith('_'), name);
    });

    test('the token, 34 characters from r:, is sent as X-Platform-Session-Token in later calls', async () => {
      const tokens = [await newSession(store, dana), await newSession(store, dana)] as const;
      assert.notEqual(tokens[0], tokens[1]);
      for (const token of tokens) {
        assert.equal(token.length, 34);
        assert.ok(await isAlive(store, token));
      }
    });

    test('States/Successful login: last_success_login is set, and stored', async () => {
      const user = await signUp(store);
      const at = Date.now();
      const { body } = await login(store, { username: user.username, password });
      const stored = (await store.read('_User', user.id)).last_success_login;
      assert.deepEqual(stored, body.last_success_login);
      assert.ok(Date.parse(stored.iso) >= at - 1 && Date.parse(stored.iso) <= Date.now() + 1, stored.iso);
    });

    test('a user without package or role still receives a token', async () => {
      const user = await signUp(store);
      signedIn(await login(store, { username: user.username, password }), user);
    });

    const names: [string, () => object][] = [
      ['the name in other case', () => ({ username: dana.username.toUpperCase() })],
      ['spaces around the name', () => ({ username: ` ${dana.username}  ` })],
      ['the e-mail address', () => ({ email })],
      ['the e-mail address in other case', () => ({ email: email.toUpperCase() })],
      ['spaces around the e-mail address', () => ({ email: ` ${email} ` })],
    ];
    for (const [what, name] of names)
      test(`login by ${what}`, async () => {
        signedIn(await login(store, { ...name(), password }));
        assertRefused(await login(store, { ...name(), password: wrong }), badLogin);
      });

    test('a huge name of combining marks does not stall the service', { timeout: 20_000 }, async () => {
      const username = '\u0345\u0300'.repeat(500_000);
      const longest = username.slice(0, 30_000);
      assertRefused(await login(store, { username: longest, password }), badLogin);
      assertRefused(await login(store, { email: longest, password }), badLogin);
      const body = { username: newName(), password, email: `${username}@example.com` };
      assertRefused(await store.call('POST', '/platform/users', { body }), { code: 125 });
      assertRefused(await store.call('POST', '/platform/users', { body: { username, password: 'short' } }), { code: 142 });
    });

    test("one user's name may be another's address: it is first what it was sent as", async () => {
      const shared = `${newName()}@example.com`;
      const named = await signUp(store, { username: shared });
      const addressed = await signUp(store, { email: shared, password: otherPassword });
      assert.equal((await login(store, { username: shared, password })).body.objectId, named.id);
      assert.equal((await login(store, { email: shared, password: otherPassword })).body.objectId, addressed.id);
      assertRefused(await login(store, { email: shared, password }), badLogin);
      assert.deepEqual([await failedLogins(store, named), await failedLogins(store, addressed)], [0, 1]);
    });

    test('login takes its values from the query of a GET', async () => {
      const get = (query: Record<string, unknown>) => store.call('GET', '/platform/login', { as: 'anonymous', query });
      signedIn(await get({ username: dana.username, password }));
      signedIn(await get({ email, password }));
      assertRefused(await get({ username: dana.username, password: wrong }), badLogin);
      assertRefused(await get({ username: dana.username }), { code: 201 });
      assertRefused(await get({ password }), { code: 200 });
    });

    test('a name or a password that no record can hold is a wrong one', async () => {
      const get = (query: Record<string, unknown>) => store.call('GET', '/platform/login', { as: 'anonymous', query });
      for (const name of ['a\0b', '\0', `${dana.username}\0`]) {
        assertRefused(await get({ username: name, password }), badLogin);
        assertRefused(await get({ email: name, password }), badLogin);
      }
      assertRefused(await get({ username: dana.username, password: `${password}\0` }), badLogin);
      for (const half of ['"a\\u0000b"', '"\\ud800"']) {
        const body = `{"username":${half},"password":${half}}`;
        const { appId, url } = store.service();
        const headers = { 'Content-Type': 'application/json', 'X-Platform-Application-Id': appId };
        const answer = await fetch(`${url}/platform/login`, { method: 'POST', headers, body });
        assert.equal(answer.status, 400);
        assert.equal(((await answer.json()) as Json).code, 107);
      }
    });

    for (const method of [undefined, 'GET', 'POST'])
      test(`Requests: login as Parse clients send it, text/plain with _method ${method}`, async () => {
        const about = { _ApplicationId: store.service().appId, _ClientVersion: 'js1', _InstallationId: newName() };
        const send = (secret: string) =>
          fetch(`${store.service().url}/platform/login`, {
            method: 'POST',
            headers: { 'Content-Type': 'text/plain' },
            body: JSON.stringify({ username: dana.username, password: secret, ...about, ...(method && { _method: method }) }),
          });
        const answer = await send(password);
        const text = await answer.text();
        signedIn({ status: answer.status, text, body: JSON.parse(text) });
        assert.equal((await send(wrong)).status, 404);
      });

    for (const as of ['master', 'apiKey'] as const)
      test(`a stronger credential does not replace the password (${as})`, async () => {
        signedIn(await login(store, { username: dana.username, password }, { as }));
        assertRefused(await login(store, { username: dana.username, password: wrong }, { as }), badLogin);
      });

    test('a client whose session is over logs in again; the token it still sends is set aside', async () => {
      const stale = `r:${'0'.repeat(32)}`;
      const { username } = dana;
      signedIn(await login(store, { username, password }, { session: stale }));
      signedIn(await login(store, { username, password, _SessionToken: stale }));
      assertRefused(await login(store, { username, password: wrong }, { session: stale }), badLogin);
    });

    const refusals: [string, () => unknown, Refusal][] = [
      ['a wrong password', () => ({ username: dana.username, password: wrong }), badLogin],
      ['the password in other case', () => ({ username: dana.username, password: password.toLowerCase() }), badLogin],
      ['spaces around the password', () => ({ username: dana.username, password: ` ${password}` }), badLogin],
      ['a wrong username', () => ({ username: newName(), password }), badLogin],
      ['an unknown e-mail address', () => ({ email: 'nobody@example.com', password }), badLogin],
      ['an objectId for a name', () => ({ username: dana.id, password }), badLogin],
      ['nothing', () => ({}), { code: 200, error: 'bad or missing username' }],
      ['no body', () => undefined, { code: 200, error: 'bad or missing username' }],
      ['no name', () => ({ password }), { code: 200, error: 'bad or missing username' }],
      ['no password', () => ({ username: dana.username }), { code: 201, error: 'password is required' }],
      ['no password beside an e-mail address', () => ({ email }), { code: 201, error: 'password is required' }],
      ['an operator as username', () => ({ username: { $ne: null }, password }), badLogin],
      ['a $regex as username', () => ({ username: { $regex: '.' }, password }), badLogin],
      ['an Array as username', () => ({ username: [dana.username], password }), badLogin],
      ['an operator as e-mail address', () => ({ email: { $gt: '' }, password }), badLogin],
      ['an operator as password', () => ({ username: dana.username, password: { $ne: '' } }), badLogin],
      ['a number as password', () => ({ username: dana.username, password: 12345678 }), badLogin],
      ['true as password', () => ({ username: dana.username, password: true }), badLogin],
      ['a body that is an Array', () => [dana.username, password], { code: 107 }],
      ['a body that is no JSON', () => '{"username"', { code: 107 }],
      ['NUL in the name', () => ({ username: 'a\0', password }), { code: 107 }],
      ['a password of 60,000 characters', () => ({ username: dana.username, password: 'aA1'.repeat(20_000) }), badLogin],
    ];
    for (const [what, body, refusal] of refusals)
      test(`${what} is ${refusal.code}`, async () => {
        assertRefused(await login(store, body()), refusal);
      });

    test('a body of more than 64 KB is 413', async () => {
      const answer = await login(store, { username: dana.username, password: 'aA1'.repeat(22_000) });
      assert.deepEqual([answer.status, answer.body], [413, { code: 116, error: 'Request body is too large.' }]);
    });

    test('a wrong username and a wrong password are answered alike', async () => {
      const seen = async (username: string) => {
        const { status, text, headers } = await login(store, { username, password: wrong });
        const kept = [...headers].filter(([name]) => !['date', 'x-request-id'].includes(name));
        return { status, text, kept };
      };
      assert.deepEqual(await seen(newName()), await seen(dana.username));
    });

    test('Requests: a missing or unknown application id is 403 {error: unauthorized}', async () => {
      for (const id of ['', 'nobody']) {
        const headers = { 'X-Platform-Application-Id': id };
        const answer = await login(store, { username: dana.username, password }, { headers });
        assert.equal(answer.status, 403);
        assert.deepEqual(answer.body, { error: 'unauthorized' });
      }
    });

    test('a user with active false is refused, and told so only if the password is right', async () => {
      const user = await signUp(store);
      const attempt = (secret: string) => login(store, { username: user.username, password: secret });
      await changeUser(store, user, { active: false });
      assertRefused(await attempt(password), notActive);
      assertRefused(await attempt(wrong), badLogin);
      for (const active of [true, null]) {
        await changeUser(store, user, { active });
        signedIn(await attempt(password), user);
        await changeUser(store, user, { active: false });
        assertRefused(await attempt(password), notActive);
      }
    });

    test('a user can be made with active false', async () => {
      const user = await signUp(store, { active: false });
      assertRefused(await login(store, { username: user.username, password }), notActive);
    });
  });
