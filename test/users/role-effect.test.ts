/** Changes of roles, permissions or users affect open sessions at their next request. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertRefused, useStore } from '../support/records.ts';
import { sampledEngines } from '../support/service.ts';
import { changeRole, denied, guardedTable, newRole, newSession, type Role, signUp, type User } from '../support/users.ts';

for (const engine of sampledEngines())
  describe(engine, () => {
    const store = useStore(engine);
    const find = (table: string, session: string) => store.call('GET', `/platform/classes/${table}`, { session });
    const findFor = (...roles: Role[]) => ({ find: Object.fromEntries(roles.map(({ name }) => [`role:${name}`, true])) });

    /** Returns whether the user can find in the table. Fails for any other answer than results or the documented refusal. */
    const finds = async (table: string, { token }: Pick<User, 'token'>): Promise<boolean> => {
      const answer = await find(table, token);
      if (answer.status === 200) return true;
      assertRefused(answer, denied('find', table));
      return false;
    };

    test('Users and sessions: without a role all queries return 119', async () => {
      const user = await signUp(store);
      const table = await guardedTable(store, findFor(await newRole(store)));
      assert.equal(await finds(table, user), false);
    });

    test('a user who is put into a role, and taken out, in each of their sessions', async () => {
      const [user, other] = [await signUp(store), await signUp(store)];
      const second = { token: await newSession(store, user) };
      const role = await newRole(store);
      const table = await guardedTable(store, findFor(role));
      for (let round = 0; round < 3; round++) {
        for (const session of [user, second, other]) assert.equal(await finds(table, session), false);
        await changeRole(store, role, 'AddRelation', { users: user });
        assert.deepEqual([await finds(table, user), await finds(table, second)], [true, true]);
        assert.equal(await finds(table, other), false);
        await changeRole(store, role, 'RemoveRelation', { users: user });
      }
    });

    test('a role that is made with its members, and deleted', async () => {
      const user = await signUp(store);
      const role = await newRole(store, [user]);
      const table = await guardedTable(store, findFor(role));
      assert.equal(await finds(table, user), true);
      assert.equal((await store.call('DELETE', `/platform/roles/${role.id}`)).status, 200);
      assert.equal(await finds(table, user), false);
      const again = await store.call('POST', '/platform/roles', { body: { name: role.name } });
      assert.equal(again.status, 201, again.text);
      assert.equal(await finds(table, user), false, 'a new role of the name has members of its own');
    });

    test('Roles: members of a role in `roles` of another have its rights too, as long as it is there', async () => {
      const user = await signUp(store);
      const [top, middle] = [await newRole(store), await newRole(store)];
      const bottom = await newRole(store, [user]);
      const table = await guardedTable(store, findFor(top));
      assert.equal(await finds(table, user), false);
      await changeRole(store, middle, 'AddRelation', { roles: bottom });
      assert.equal(await finds(table, user), false);
      await changeRole(store, top, 'AddRelation', { roles: middle });
      assert.equal(await finds(table, user), true, 'two levels');
      await changeRole(store, middle, 'RemoveRelation', { roles: bottom });
      assert.equal(await finds(table, user), false);
      await changeRole(store, middle, 'AddRelation', { roles: bottom });
      assert.equal(await finds(table, user), true);
      await changeRole(store, bottom, 'RemoveRelation', { users: user });
      assert.equal(await finds(table, user), false);
      await changeRole(store, bottom, 'AddRelation', { users: user });
      assert.equal((await store.call('DELETE', `/platform/roles/${middle.id}`)).status, 200);
      assert.equal(await finds(table, user), false, 'the link is gone with the role');
    });

    test('Roles: rights go up, not down', async () => {
      const user = await signUp(store);
      const below = await newRole(store);
      await newRole(store, [user], [below]);
      assert.equal(await finds(await guardedTable(store, findFor(below)), user), false);
    });

    test('Roles: a cycle, and a role in itself, do no harm', async () => {
      const user = await signUp(store);
      const one = await newRole(store, [user]);
      const two = await newRole(store, [], [one]);
      await changeRole(store, one, 'AddRelation', { roles: two });
      await changeRole(store, one, 'AddRelation', { roles: one });
      const [ofOne, ofTwo] = [await guardedTable(store, findFor(one)), await guardedTable(store, findFor(two))];
      assert.deepEqual([await finds(ofOne, user), await finds(ofTwo, user)], [true, true]);
    });

    test('a change of class-level permissions', async () => {
      const user = await signUp(store);
      const role = await newRole(store, [user]);
      const table = await guardedTable(store, {});
      const allow = async (classLevelPermissions: object) => {
        const answer = await store.call('PUT', `/platform/schemas/${table}`, { body: { classLevelPermissions } });
        assert.equal(answer.status, 200, answer.text);
      };
      for (const permissions of [findFor(role), { find: { requiresAuthentication: true } }, { find: { [user.id]: true } }]) {
        assert.equal(await finds(table, user), false);
        await allow(permissions);
        assert.equal(await finds(table, user), true, JSON.stringify(permissions));
        await allow({ find: {} });
      }
      assert.equal(await finds(table, user), false);
    });

    test('Users and sessions: effective permissions are the union of the roles', async () => {
      const user = await signUp(store);
      const [reader, writer] = [await newRole(store, [user]), await newRole(store, [user])];
      const table = await guardedTable(store, { ...findFor(reader), create: { [`role:${writer.name}`]: true } });
      const session = user.token;
      assert.equal((await store.post(table, { Name: 'a' }, { session })).status, 201);
      assert.equal((await find(table, session)).body.results.length, 1);
      await changeRole(store, writer, 'RemoveRelation', { users: user });
      assertRefused(await store.post(table, { Name: 'b' }, { session }), denied('create', table));
      assert.equal((await find(table, session)).body.results.length, 1);
    });

    test('a role that a record is for', async () => {
      const user = await signUp(store);
      const role = await newRole(store);
      const table = await guardedTable(store, { find: { requiresAuthentication: true } });
      await store.create(table, { Name: 'a', ACL: { [`role:${role.name}`]: { read: true } } });
      const seen = async () => (await find(table, user.token)).body.results.length;
      assert.equal(await seen(), 0);
      await changeRole(store, role, 'AddRelation', { users: user });
      assert.equal(await seen(), 1);
      await changeRole(store, role, 'RemoveRelation', { users: user });
      assert.equal(await seen(), 0);
    });

    test('changes of roles in a batch', async () => {
      const user = await signUp(store);
      const role = await newRole(store);
      const table = await guardedTable(store, findFor(role));
      assert.equal(await finds(table, user), false);
      const objects = [{ __type: 'Pointer', className: '_User', objectId: user.id }];
      const change = (__op: string) =>
        store.call('POST', '/platform/batch', {
          body: { requests: [{ method: 'PUT', path: `/platform/roles/${role.id}`, body: { users: { __op, objects } } }] },
        });
      await change('AddRelation');
      assert.equal(await finds(table, user), true);
      await change('RemoveRelation');
      assert.equal(await finds(table, user), false);
    });

    test('Roles: what a session user finds, their batches and aggregations have too', async () => {
      const user = await signUp(store);
      const role = await newRole(store);
      const table = await guardedTable(store, { ...findFor(role), create: { [`role:${role.name}`]: true } });
      const session = user.token;
      const all = async () => {
        const aggregate = await store.call('GET', `/platform/classes-aggregate/${table}`, { session, query: { limit: 1 } });
        const requests = [{ method: 'POST', path: `/platform/classes/${table}`, body: { Name: 'a' } }];
        const batch = await store.call('POST', '/platform/batch', { session, body: { requests } });
        return [aggregate.body.code, batch.body[0].error?.code];
      };
      assert.deepEqual(await all(), [119, 119]);
      await changeRole(store, role, 'AddRelation', { users: user });
      assert.deepEqual(await all(), [undefined, undefined]);
      await changeRole(store, role, 'RemoveRelation', { users: user });
      assert.deepEqual(await all(), [119, 119]);
    });
  });
