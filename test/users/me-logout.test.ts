import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertRefused, pointer, useStore } from '../support/records.ts';
import { anyEngine, type CallOptions } from '../support/service.ts';
import { badSession, guardedTable, isAlive, me, newName, newSession, sessionRows, signUp, tokenForm } from '../support/users.ts';

const madeUp = `r:${'0'.repeat(32)}`;

for (const engine of anyEngine)
  describe(engine, () => {
    const store = useStore(engine);
    const logout = (options: CallOptions) => store.call('POST', '/platform/logout', options);

    test('Users/Current user: the user object, with the token that was sent', async () => {
      const user = await signUp(store, { email: `${newName()}@example.com`, name: 'Dana', phone: '050' });
      const { status, body, text } = await me(store, user.token);
      assert.equal(status, 200, text);
      const { sessionToken, ...shown } = body;
      assert.equal(sessionToken, user.token);
      assert.deepEqual(shown, await store.read('_User', user.id), 'the whole record');
    });

    test('/users/me shows the whole record whatever the permissions say', async () => {
      const user = await signUp(store, { email: `${newName()}@example.com` });
      assertRefused(await store.get('_User', user.id, { session: user.token }), { code: 119 });
      assert.ok((await me(store, user.token)).body.email);
    });

    const without: [string, CallOptions][] = [
      ['with the application id alone', { as: 'anonymous' }],
      ['with the master key', { as: 'master' }],
      ['with the API key', { as: 'apiKey' }],
      ['with a token that was never given', { session: madeUp }],
      ['with a token in another form', { session: 'r:short' }],
      ['with a token in upper case', { session: `R:${'0'.repeat(32)}` }],
      ['with a key for a token', { session: 'test-master-key' }],
    ];
    for (const [what, options] of without) {
      test(`/users/me ${what} is 209`, async () => {
        assertRefused(await store.call('GET', '/platform/users/me', options), badSession);
      });
      test(`/logout ${what} is 209`, async () => {
        assertRefused(await logout(options), badSession);
      });
    }

    for (const [method, at] of [
      ['GET', 'users/me'],
      ['GET', 'sessions/me'],
      ['POST', 'logout'],
    ] as const)
      test(`beside a wrong key the token is not looked at (${at})`, async () => {
        const { token } = await signUp(store);
        for (const header of ['X-Platform-Master-Key', 'X-Platform-API-Key']) {
          const answer = await store.call(method, `/platform/${at}`, { session: token, headers: { [header]: 'wrong' } });
          assertRefused(answer, { code: 119, error: /^Permission denied for action (get|delete) on class _(User|Session)$/ });
        }
        assert.ok(await isAlive(store, token));
      });

    test('a session whose user is not there is 209', async () => {
      const { id, token } = await signUp(store);
      const [row] = await sessionRows(store, { id });
      await store.update('_Session', row.objectId, { user: pointer('_User', 'nobody0000') });
      assertRefused(await me(store, token), badSession);
    });

    test('States/logout: the session is invalid, further use returns code 209', async () => {
      const user = await signUp(store);
      const table = await guardedTable(store, { find: { '*': true }, get: { '*': true }, create: { '*': true } });
      const id = await store.create(table, { Name: 'a' });
      const session = user.token;
      assert.equal((await store.call('GET', `/platform/classes/${table}`, { session })).status, 200);
      const answer = await logout({ session });
      assert.equal(answer.status, 200, answer.text);
      assert.deepEqual(answer.body, {});
      const uses: [string, string, object?][] = [
        ['GET', `/platform/classes/${table}`],
        ['GET', `/platform/classes/${table}/${id}`],
        ['POST', `/platform/classes/${table}`, { Name: 'b' }],
        ['PUT', `/platform/classes/${table}/${id}`, { Name: 'b' }],
        ['DELETE', `/platform/classes/${table}/${id}`],
        ['GET', `/platform/classes-aggregate/${table}?limit=1`],
        ['POST', '/platform/batch', { requests: [{ method: 'POST', path: `/platform/classes/${table}`, body: {} }] }],
        ['GET', '/platform/users'],
        ['GET', '/platform/users/me'],
        ['PUT', `/platform/users/${user.id}`, { name: 'b' }],
        ['GET', '/platform/sessions'],
        ['GET', '/platform/sessions/me'],
        ['POST', '/platform/sessions', {}],
        ['GET', '/platform/roles'],
        ['POST', '/platform/logout'],
      ];
      for (const [method, at, body] of uses) {
        const used = await store.call(method, at, { session, body });
        assert.equal(used.body?.code, 209, `${method} ${at}: ${used.text}`);
        assertRefused(used, badSession);
      }
      assert.equal((await store.all(table)).length, 1);
    });

    test('States/logout: only the session that is sent', async () => {
      const user = await signUp(store);
      const [other, ofOther] = [await newSession(store, user), (await signUp(store)).token];
      await logout({ session: user.token });
      assert.deepEqual([await isAlive(store, user.token), await isAlive(store, other)], [false, true]);
      assert.ok(await isAlive(store, ofOther));
    });

    test('Requests: the token may travel in the body; a header wins over it', async () => {
      const [first, second] = [await signUp(store), await signUp(store)];
      const ask = (at: string, body: object, headers: Record<string, string> = {}) =>
        store.call('POST', at, { as: 'anonymous', body, headers });
      const who = async (body: object, headers?: Record<string, string>) => {
        const answer = await ask('/platform/users/me', { _method: 'GET', ...body }, headers);
        return answer.body.objectId ?? answer.body.code;
      };
      assert.equal(await who({ _SessionToken: first.token }), first.id);
      assert.equal(await who({ _SessionToken: first.token }, { 'X-Platform-Session-Token': second.token }), second.id);
      assert.equal(await who({ _SessionToken: first.token }, { 'X-Platform-Session-Token': madeUp }), 209);
      assert.equal((await ask('/platform/logout', { _SessionToken: first.token })).status, 200);
      assert.deepEqual([await isAlive(store, first.token), await isAlive(store, second.token)], [false, true]);
    });

    test('the strongest credential that was sent decides, right or wrong', async () => {
      const { token } = await signUp(store);
      const table = await guardedTable(store, {});
      const find = async (headers: Record<string, string>) =>
        (await store.call('GET', `/platform/classes/${table}`, { session: token, headers })).status;
      assert.equal(await find({}), 400);
      assert.equal(await find({ 'X-Platform-Master-Key': store.service().masterKey }), 200);
      assert.equal(await find({ 'X-Platform-API-Key': store.service().apiKey }), 200);
      assert.equal(await find({ 'X-Platform-API-Key': 'wrong' }), 400);
      const headers = { 'X-Platform-Master-Key': store.service().masterKey };
      const withDeadToken = await store.call('GET', `/platform/classes/${table}`, { session: madeUp, headers });
      assert.equal(withDeadToken.status, 200, withDeadToken.text);
    });

    test('Schemas: a session token gets 403 {error: unauthorized: master key is required}', async () => {
      const { token } = await signUp(store);
      for (const at of ['/platform/schemas', '/platform/schemas/_User']) {
        const answer = await store.call('GET', at, { session: token });
        assert.equal(answer.status, 403);
        assert.deepEqual(answer.body, { error: 'unauthorized: master key is required' });
      }
    });

    test('no other answer than those of login, sign-up and /users/me holds a token', async () => {
      const user = await signUp(store);
      for (const at of ['/platform/users', `/platform/users/${user.id}`, '/platform/sessions', '/platform/classes/_Session']) {
        const { text, status } = await store.call('GET', at);
        assert.equal(status, 200);
        assert.doesNotMatch(text, /r:[0-9a-f]{32}|sessionToken/, at);
      }
      assert.match(user.token, tokenForm);
    });

    test('Authentication 7: reading `_User` requires authentication', async () => {
      const user = await signUp(store);
      for (const at of ['/platform/users', `/platform/users/${user.id}`, '/platform/classes/_User'])
        assertRefused(await store.call('GET', at, { as: 'anonymous' }), { code: 101, error: /user needs to be authenticated/ });
    });
  });
