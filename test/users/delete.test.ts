import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertRefused, pointer, unique, useStore } from '../support/records.ts';
import { type CallOptions, sampledEngines } from '../support/service.ts';
import {
  badLogin,
  captcha,
  denied,
  guardedTable,
  isAlive,
  login,
  newRole,
  newSession,
  notFound,
  password,
  sessionRows,
  signUp,
  type User,
  userPointer,
} from '../support/users.ts';
import { eventually } from './mail.ts';

for (const engine of sampledEngines())
  describe(engine, () => {
    const store = useStore(engine);
    const remove = (user: User, options: CallOptions = {}) => store.call('DELETE', `/platform/users/${user.id}`, options);
    const blocked = async (user: User, table: string, key: string) => {
      for (const as of ['master', 'apiKey'] as const) {
        const error = `Pointer to Object ${user.id} exists in table ${table} in key ${key}. Delete is not allowed.`;
        assertRefused(await remove(user, { as }), { code: 119, error });
      }
      assert.ok(await isAlive(store, user.token), 'a refused delete ends no session');
      assert.equal((await login(store, { username: user.username, password })).status, 200);
    };

    const requestsOf = async (user: User): Promise<{ objectId: string }[]> =>
      (await store.call('GET', '/platform/classes/_RequestLog', { query: { where: { user: userPointer(user) } } })).body.results;
    /** Waits for the rows of `_RequestLog` that name the user, which a later commit writes, and deletes them. */
    const forgetRequests = async (user: User) => {
      const rows = await eventually(async () => ((await requestsOf(user)).length > 0 ? requestsOf(user) : undefined));
      for (const { objectId } of rows) assert.equal((await store.remove('_RequestLog', objectId)).status, 200);
    };

    for (const as of ['master', 'apiKey'] as const)
      test(`Users/Delete user: with the ${as}; the sessions go with them, and neither they nor roles block it`, async () => {
        const user = await signUp(store);
        const second = await newSession(store, user);
        const role = await newRole(store, [user]);
        assert.deepEqual(await store.members('_Role', role.id, 'users', '_User'), [user.id]);
        const answer = await remove(user, { as });
        assert.equal(answer.status, 200, answer.text);
        assert.deepEqual(answer.body, {});
        assert.deepEqual([await isAlive(store, user.token), await isAlive(store, second)], [false, false]);
        assert.deepEqual(await sessionRows(store, user), []);
        assert.deepEqual(await store.members('_Role', role.id, 'users', '_User'), []);
        assertRefused(await store.get('_User', user.id), notFound);
        assertRefused(await remove(user, { as }), notFound);
        assertRefused(await login(store, { username: user.username, password }), badLogin);
      });

    test('Users/Delete user: name and address are free again', async () => {
      const email = `${unique('m')}@example.com`;
      const user = await signUp(store, { email });
      await remove(user);
      const again = await signUp(store, { username: user.username, email });
      assert.notEqual(again.id, user.id);
      assert.equal((await login(store, { email, password })).body.objectId, again.id);
    });

    test('Users/Delete user: the same at classes/_User and in a batch', async () => {
      const [one, two] = [await signUp(store), await signUp(store)];
      assert.equal((await store.remove('_User', one.id)).status, 200);
      const requests = [{ method: 'DELETE', path: `/platform/users/${two.id}` }];
      const { body } = await store.call('POST', '/platform/batch', { body: { requests } });
      assert.deepEqual(body, [{ success: {} }]);
      assert.deepEqual([await isAlive(store, one.token), await isAlive(store, two.token)], [false, false]);
    });

    test('Errors/119: a record points at the user; allowed once it does not', async () => {
      const user = await signUp(store);
      const table = await store.table({ Owner: { type: 'Pointer', targetClass: '_User' } });
      const id = await store.create(table, { Owner: userPointer(user) });
      await blocked(user, table, 'Owner');
      await store.update(table, id, { Owner: null });
      assert.equal((await remove(user)).status, 200);
    });

    test('Errors/119: a record that the user made points at them by createdBy', async () => {
      const user = await signUp(store);
      const table = await guardedTable(store, { create: { requiresAuthentication: true } });
      const made = await store.post(table, { Name: 'a' }, { session: user.token });
      assert.equal(made.status, 201, made.text);
      const record = await store.read(table, made.body.objectId);
      assert.deepEqual([record.createdBy, record.updatedBy], [userPointer(user), userPointer(user)]);
      await forgetRequests(user);
      await blocked(user, table, 'createdBy');
      await store.remove(table, made.body.objectId);
      assert.equal((await remove(user)).status, 200);
    });

    test('Users/Delete user: blocked through `_RequestLog.user`, once the user has written', async () => {
      const user = await signUp(store);
      const written = await store.post('_GeneralLogs', { Name: 'a' }, { session: user.token });
      assert.equal(written.body.code, 119, 'a refused write is logged too');
      await eventually(async () => ((await requestsOf(user)).length > 0 ? true : undefined));
      await blocked(user, '_RequestLog', 'user');
      await forgetRequests(user);
      assert.equal((await remove(user)).status, 200);
    });

    test('Errors/119: a record of a system table that points at the user', async () => {
      const user = await signUp(store);
      const field = unique('f');
      const id = await store.create('Config', { Name: unique('Flag'), Value: {}, [field]: userPointer(user) });
      await blocked(user, 'Config', field);
      await store.remove('Config', id);
      assert.equal((await remove(user)).status, 200);
    });

    test('a user record that points at itself is not blocked by itself', async () => {
      const user = await signUp(store);
      const body = { manager: userPointer(user) };
      assert.equal((await store.put('_User', user.id, body)).status, 200);
      assert.equal((await remove(user)).status, 200);
    });

    test('Authentication 7: deleting users is locked to the keys', async () => {
      const [user, other] = [await signUp(store), await signUp(store)];
      for (const target of [user, other]) {
        assertRefused(await remove(target, { session: user.token }), denied('delete', '_User'));
        assertRefused(await store.remove('_User', target.id, { session: user.token }), denied('delete', '_User'));
        assertRefused(await remove(target, { as: 'anonymous' }), captcha);
        assert.ok(await isAlive(store, target.token));
      }
    });

    test('Other system tables: `_User`, `_Role` and `_Session` cannot be dropped', async () => {
      for (const table of ['_User', '_Role', '_Session']) {
        const answer = await store.call('DELETE', `/platform/schemas/${table}`);
        assertRefused(answer, { code: 119, error: 'Action is denied for system tables' });
      }
    });

    test('Records/Delete: a Relation of another table to the user does not block; the user is removed from it', async () => {
      const user = await signUp(store);
      const table = await store.table({ R: { type: 'Relation', targetClass: '_User' } });
      const id = await store.create(table, { R: { __op: 'AddRelation', objects: [pointer('_User', user.id)] } });
      assert.equal((await remove(user)).status, 200);
      assert.deepEqual(await store.members(table, id, 'R', '_User'), []);
    });
  });
