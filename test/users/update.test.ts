import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertRefused, type Refusal, useStore } from '../support/records.ts';
import { type CallOptions, sampledEngines } from '../support/service.ts';
import {
  badLogin,
  badPassword,
  captcha,
  changeUser,
  emailTaken,
  isAlive,
  login,
  nameTaken,
  newName,
  newSession,
  notFound,
  otherPassword,
  otherUser,
  password,
  sessionRows,
  signUp,
  type User,
  updateUser,
} from '../support/users.ts';

for (const engine of sampledEngines())
  describe(engine, () => {
    const store = useStore(engine);
    const entering = async (user: User, secret: string) =>
      (await login(store, { username: user.username, password: secret })).status;

    /** Asserts that an update is refused and changes neither record nor password nor sessions. */
    const refused = async (user: User, body: object, refusal: Refusal, options: CallOptions = {}) => {
      const before = await store.read('_User', user.id);
      assertRefused(await updateUser(store, user.id, body, options), refusal);
      assert.deepEqual(await store.read('_User', user.id), before);
      assert.ok(await isAlive(store, user.token));
    };

    for (const as of ['master', 'apiKey'] as const)
      test(`Users/Update user: the fields to change; answers updatedAt (${as})`, async () => {
        const user = await signUp(store, { name: 'a' });
        const answer = await updateUser(store, user.id, { name: 'b', language: 'he' }, { as });
        assert.equal(answer.status, 200, answer.text);
        assert.deepEqual(Object.keys(answer.body).sort(), ['objectId', 'updatedAt']);
        const record = await store.read('_User', user.id);
        assert.deepEqual([record.name, record.language, record.username], ['b', 'he', user.username]);
        assert.ok(await isAlive(store, user.token));
        assert.equal(await entering(user, password), 200, 'the password stays');
      });

    for (const [what, as, at] of [
      ['PUT /users/{objectId}', 'master', '/platform/users/'],
      ['PUT /users/{objectId} with an API key', 'apiKey', '/platform/users/'],
      ['PUT /classes/_User/{objectId}', 'master', '/platform/classes/_User/'],
    ] as const)
      test(`a password written with a key ends all sessions of the user: ${what}`, async () => {
        const [user, other] = [await signUp(store), await signUp(store)];
        const second = await newSession(store, user);
        const answer = await store.call('PUT', at + user.id, { as, body: { password: otherPassword } });
        assert.equal(answer.status, 200, answer.text);
        assert.deepEqual(Object.keys(answer.body).sort(), ['objectId', 'updatedAt']);
        assert.deepEqual([await isAlive(store, user.token), await isAlive(store, second)], [false, false]);
        assert.deepEqual(await sessionRows(store, user), []);
        assert.ok(await isAlive(store, other.token));
        assertRefused(await login(store, { username: user.username, password }), badLogin);
        assert.equal(await entering(user, otherPassword), 200);
      });

    test('so it is in a batch, where a weak password fails its item alone', async () => {
      const [one, two] = [await signUp(store), await signUp(store)];
      const item = (user: User, secret: string) => ({
        method: 'PUT',
        path: `/platform/users/${user.id}`,
        body: { password: secret },
      });
      const { body } = await store.call('POST', '/platform/batch', {
        body: { requests: [item(one, otherPassword), item(two, 'short')] },
      });
      assert.deepEqual([body[0].error, body[1].error.code], [undefined, 142]);
      assert.deepEqual([await isAlive(store, one.token), await isAlive(store, two.token)], [false, true]);
      assert.deepEqual([await entering(one, otherPassword), await entering(two, password)], [200, 200]);
    });

    for (const [what, body, refusal] of [
      ['a weak password', { password: 'abcdefgh' }, badPassword],
      ['an empty password', { password: '' }, { code: [142, 201] }],
      ['null for a password', { password: null }, { code: [142, 201] }],
      ['Delete for a password', { password: { __op: 'Delete' } }, { code: [111, 142, 201] }],
      ['an operator for a password', { password: { __op: 'Increment', amount: 1 } }, { code: [111, 142, 201] }],
      ['an Object for a password', { password: { a: 1 } }, { code: [111, 142, 201] }],
      ['a weak password beside other fields', { name: 'b', password: 'short' }, badPassword],
      ['an empty username', { username: '' }, { code: 200 }],
      ['null for a username', { username: null }, { code: 200 }],
      ['Delete for a username', { username: { __op: 'Delete' } }, { code: [111, 200] }],
      ['an e-mail address that is none', { email: 'nobody' }, { code: 125 }],
      ["the service's own fields", { _reset_token: 'x' }, { code: [105, 119] }],
      ['the key that names are compared by', { _username_key: 'x' }, { code: [105, 119] }],
    ] as [string, object, Refusal][])
      test(`Users/Update user: ${what} is ${refusal.code}`, async () => {
        const user = await signUp(store);
        await refused(user, body, refusal);
        assert.equal(await entering(user, password), 200);
      });

    test('Errors/202, 203: a name or an address of another user; their own in another form is no other', async () => {
      const [one, two] = [await signUp(store), await signUp(store, { email: `${newName()}@example.com` })];
      const email = (await store.read('_User', two.id)).email;
      await refused(one, { username: two.username.toUpperCase() }, nameTaken);
      await refused(one, { email: ` ${email}` }, emailTaken);
      await changeUser(store, two, { username: two.username.toUpperCase(), email: email.toUpperCase() });
      assert.equal(await entering(two, password), 200);
    });

    test('Users/Update user: a new username is the one to sign in with; the old one is free', async () => {
      const user = await signUp(store);
      const username = newName();
      await changeUser(store, user, { username });
      assertRefused(await login(store, { username: user.username, password }), badLogin);
      assert.equal((await login(store, { username, password })).status, 200);
      assert.ok(await isAlive(store, user.token));
      await signUp(store, { username: user.username });
    });

    test('Users/Update user: an address that is taken away is free, and signs nobody in', async () => {
      const email = `${newName()}@example.com`;
      const user = await signUp(store, { email });
      await changeUser(store, user, { email: null });
      assertRefused(await login(store, { email, password }), badLogin);
      const other = await signUp(store, { email });
      assert.equal((await login(store, { email, password })).body.objectId, other.id);
    });

    test('Users/Update user: an unknown id is 101', async () => {
      assertRefused(await updateUser(store, 'nobody0000', { name: 'a' }), notFound);
    });

    for (const [what, body] of [
      ['a name', { name: 'b' }],
      ['a password', { password: otherPassword }],
      ['active', { active: true }],
      ['nothing', {}],
    ] as const)
      test(`Errors/206: a session user writes ${what}: Cannot modify user <id>., for themselves too`, async () => {
        const [user, other] = [await signUp(store), await signUp(store)];
        const session = user.token;
        await refused(other, body, otherUser(other.id), { session });
        await refused(user, body, otherUser(user.id), { session });
        assertRefused(await store.put('_User', other.id, body, { session }), otherUser(other.id));
      });

    test('Errors/206: the same over POST with _method, in a batch, or of an unknown id', async () => {
      const [user, other] = [await signUp(store), await signUp(store)];
      const session = user.token;
      const at = `/platform/users/${other.id}`;
      assertRefused(await store.call('POST', at, { session, body: { _method: 'PUT', name: 'b' } }), otherUser(other.id));
      const requests = [{ method: 'PUT', path: at, body: { name: 'b' } }];
      const { body } = await store.call('POST', '/platform/batch', { session, body: { requests } });
      assert.deepEqual(body[0].error, { code: 206, error: `Cannot modify user ${other.id}.` });
      assertRefused(await updateUser(store, 'nobody0000', {}, { session }), otherUser('nobody0000'));
      assert.equal((await store.read('_User', other.id)).name, undefined);
    });

    test('anonymous writes meet the CAPTCHA text', async () => {
      const user = await signUp(store);
      await refused(user, { password: otherPassword }, captcha, { as: 'anonymous' });
    });

    test('Authentication 1: a key under the wrong name is refused', async () => {
      const user = await signUp(store);
      const headers = { 'X-Platform-API-Key': store.service().masterKey };
      await refused(user, { password: otherPassword }, { code: 119 }, { as: 'anonymous', headers });
    });

    test('`active: false` ends the sessions, and `active: true` brings none of them back', async () => {
      const [user, other] = [await signUp(store), await signUp(store)];
      await changeUser(store, user, { active: false });
      assert.deepEqual([await isAlive(store, user.token), await isAlive(store, other.token)], [false, true]);
      assert.deepEqual(await sessionRows(store, user), []);
      await changeUser(store, user, { active: true });
      assert.equal(await isAlive(store, user.token), false);
      const again = await newSession(store, user);
      await changeUser(store, user, { active: true, name: 'b' });
      assert.ok(await isAlive(store, again));
    });
  });
