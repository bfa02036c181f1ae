/** Permissions that are granted or revoked through one process apply on another within a second. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertRefused, path, type Store, unique } from '../support/records.ts';
import { soon } from '../support/soon.ts';
import {
  badSession,
  changeRole,
  changeUser,
  denied,
  guardedTable,
  isAlive,
  login,
  me,
  newName,
  newRole,
  newSession,
  notActive,
  otherPassword,
  password,
  signUp,
  type User,
} from '../support/users.ts';
import { addSystem, callSystem, printed, succeed } from '../systems/cli.ts';
import { both, describeProcesses, ROUNDS, sorted, times, warm } from './processes.ts';

describeProcesses('access over two processes', (stores) => {
  const [a, b] = both(stores);
  const findFor = (name: string) => ({ find: { [`role:${name}`]: true }, get: { [`role:${name}`]: true } });
  const find = (store: Store, table: string, { token }: Pick<User, 'token'>) =>
    store.call('GET', path(table), { session: token });
  const mayFind = async (store: Store, table: string, user: Pick<User, 'token'>) => {
    const answer = await find(store, table, user);
    assert.equal(answer.status, 200, answer.text);
  };
  const mayNotFind = async (store: Store, table: string, user: Pick<User, 'token'>) =>
    assertRefused(await find(store, table, user), denied('find', table));

  test('a session that was opened on one counts on the other, and ends there when it is ended', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const user = await signUp(a);
      const second = await newSession(b, user);
      for (const token of [user.token, second])
        for (const store of [a, b]) await soon(async () => assert.equal(await isAlive(store, token), true));
      assert.equal((await a.call('POST', '/platform/logout', { session: second })).status, 200);
      await soon(async () => assert.equal(await isAlive(b, second), false));
      assert.equal(await isAlive(b, user.token), true);
    }
  });

  test('all sessions of a user end on the other when the password is changed by the master key', async () => {
    const user = await signUp(a);
    await warm(() => me(b, user.token));
    await changeUser(a, user, { password: otherPassword });
    await soon(async () => assertRefused(await me(b, user.token), badSession));
    const fresh = await login(b, { username: user.username, password: otherPassword });
    assert.equal(fresh.status, 200, fresh.text);
    assert.equal((await login(b, { username: user.username, password })).status, 404);
  });

  test('a user who is blocked on one is signed out on the other, and can sign in again after being unblocked', async () => {
    const user = await signUp(a);
    await warm(() => me(b, user.token));
    await changeUser(a, user, { active: false });
    await soon(async () => assertRefused(await me(b, user.token), badSession));
    assertRefused(await login(b, { username: user.username, password }), notActive);
    await changeUser(b, user, { active: true });
    await soon(async () => assert.equal((await login(a, { username: user.username, password })).status, 200));
  });

  test('a user who is deleted on one is unknown on the other', async () => {
    const user = await signUp(a);
    await warm(() => me(b, user.token));
    assert.equal((await a.call('DELETE', `/platform/users/${user.id}`)).status, 200);
    await soon(async () => assertRefused(await me(b, user.token), badSession));
  });

  test('eight wrong passwords over both processes lock the user on both', async () => {
    const user = await signUp(a);
    const answers = await times(24, (n) => login(n % 2 ? a : b, { username: user.username, password: `Wrong${n}Pass` }));
    const wrong = answers.filter(({ body }) => body.error === 'Invalid username/password.');
    assert.ok(wrong.length <= 8, `${wrong.length} attempts were answered as wrong`);
    for (const store of [a, b]) assert.match((await login(store, { username: user.username, password })).body.error, /locked/);
  });

  test('a role given and taken away on one', async () => {
    const user = await signUp(a);
    const role = await newRole(a);
    const table = await guardedTable(a, findFor(role.name));
    await soon(() => mayNotFind(b, table, user));
    for (let round = 0; round < 3; round++) {
      await changeRole(a, role, 'AddRelation', { users: user });
      await soon(() => mayFind(b, table, user));
      await warm(() => find(b, table, user));
      await changeRole(a, role, 'RemoveRelation', { users: user });
      await soon(() => mayNotFind(b, table, user));
    }
  });

  test('a role inside a role, put in and taken out on one', async () => {
    const user = await signUp(a);
    const [top, bottom] = [await newRole(a), await newRole(b, [user])];
    const table = await guardedTable(b, findFor(top.name));
    await soon(() => mayNotFind(a, table, user));
    await changeRole(b, top, 'AddRelation', { roles: bottom });
    await soon(() => mayFind(a, table, user));
    await changeRole(b, top, 'RemoveRelation', { roles: bottom });
    await soon(() => mayNotFind(a, table, user));
    await changeRole(b, top, 'AddRelation', { roles: bottom });
    await soon(() => mayFind(a, table, user));
    assert.equal((await b.call('DELETE', `/platform/roles/${bottom.id}`)).status, 200);
    await soon(() => mayNotFind(a, table, user));
  });

  test('permissions narrowed and widened on one', async () => {
    const user = await signUp(a);
    const table = await guardedTable(a, { find: { requiresAuthentication: true } });
    const set = async (classLevelPermissions: object) => {
      const answer = await a.call('PUT', `/platform/schemas/${table}`, { body: { className: table, classLevelPermissions } });
      assert.equal(answer.status, 200, answer.text);
    };
    await a.create(table, { Name: 'secret' });
    for (let round = 0; round < 3; round++) {
      await soon(() => mayFind(b, table, user));
      await warm(() => find(b, table, user));
      await set({ find: { nobody: true } });
      await soon(() => mayNotFind(b, table, user));
      await set({ find: { requiresAuthentication: true }, protectedFields: { '*': ['Name'] } });
      await soon(async () => {
        const { body, text } = await find(b, table, user);
        assert.equal(body.results?.length, 1, text);
        assert.ok(!text.includes('secret'), text);
      });
      await set({ find: { requiresAuthentication: true } });
      await soon(async () => assert.ok((await find(b, table, user)).text.includes('secret')));
    }
  });

  test('an ACL that one process narrows hides the record on the other at once', async () => {
    const [owner, other] = [await signUp(a), await signUp(a)];
    const table = await guardedTable(a, { find: { requiresAuthentication: true }, get: { requiresAuthentication: true } });
    const id = await a.create(table, { Name: 'x' });
    await soon(() => mayFind(b, table, other));
    await a.update(table, id, { ACL: { [owner.id]: { read: true } } });
    assertRefused(await b.get(table, id, { session: other.token }), { code: 101, error: 'Object not found.' });
    assert.deepEqual((await find(b, table, other)).body.results, []);
    assert.equal((await find(b, table, owner)).body.results.length, 1);
  });

  test('a flag in Config that was written on one is read on the other', async () => {
    const Name = unique('flag');
    const id = await a.create('Config', { Name, Value: { on: false } });
    const read = () => b.call('GET', path('Config'), { query: { where: { Name } } });
    await warm(read);
    await a.update('Config', id, { Value: { on: true } });
    await soon(async () => assert.deepEqual((await read()).body.results[0]?.Value, { on: true }));
  });

  test('a key added and revoked by the command counts on both', async () => {
    const name = unique('key');
    const system = ['--system', a.service().appId, '--name', name];
    const key = printed(await succeed(a.service(), 'key', 'add', ...system), /key/i);
    const using = (store: Store) =>
      store.call('GET', '/platform/schemas', { as: 'anonymous', headers: { 'X-Platform-API-Key': key } });
    for (const store of [a, b]) await soon(async () => assert.equal((await using(store)).status, 200));
    for (const store of [a, b]) await warm(() => using(store));
    await succeed(a.service(), 'key', 'revoke', ...system);
    for (const store of [a, b]) await soon(async () => assert.equal((await using(store)).status, 403));
  });

  test('a system added and removed by the command is there, and gone, on both', async () => {
    for (let round = 0; round < 2; round++) {
      const made = await addSystem(a.service(), '--app-id', 'other-system');
      const call = (store: Store, method: string, body?: object) =>
        callSystem(store.service(), made, method, '/platform/classes/Things', { body });
      await soon(async () => assert.equal((await call(b, 'GET')).status, 200));
      assert.equal((await call(b, 'POST', { n: round })).status, 201);
      await soon(async () =>
        assert.deepEqual(
          (await call(a, 'GET')).body.results.map(({ n }: { n: number }) => n),
          [round],
        ),
      );
      await succeed(b.service(), 'system', 'remove', 'other-system', '--now');
      for (const store of [a, b])
        await soon(async () => {
          const answer = await call(store, 'GET');
          assert.deepEqual([answer.status, answer.body], [403, { error: 'unauthorized' }]);
        });
    }
  });

  test('a user name, an e-mail address and a role name are taken once, on whichever process a request comes first', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const username = newName();
      const users = await times(8, (n) =>
        (n % 2 ? a : b).call('POST', '/platform/users', {
          body: { username: n % 3 ? username : username.toUpperCase(), password },
        }),
      );
      const { done, refused } = sorted(users);
      assert.equal(done.length, 1, users.map(({ text }) => text).join('\n'));
      for (const answer of refused) assertRefused(answer, { code: 202, error: 'Account already exists for this username.' });
      const email = `${newName()}@example.com`;
      const addresses = await times(8, (n) =>
        (n % 2 ? a : b).call('POST', '/platform/users', { body: { username: newName(), password, email } }),
      );
      assert.equal(sorted(addresses).done.length, 1);
      for (const answer of sorted(addresses).refused) assertRefused(answer, { code: 203 });
      const name = unique('Role');
      const roles = await times(8, (n) => (n % 2 ? a : b).call('POST', '/platform/roles', { body: { name } }));
      assert.equal(sorted(roles).done.length, 1);
      for (const answer of sorted(roles).refused) assertRefused(answer, { code: 137 });
    }
  });
});
