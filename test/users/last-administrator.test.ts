/** The last active member of Admin cannot be removed, by any kind of write. Reference: users.md#administrators. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertRefused, type Json, type Refusal } from '../support/records.ts';
import { type Answer, engines } from '../support/service.ts';
import { changeUser, isAlive, newSession, relate, setRole, signUp, type User, updateUser } from '../support/users.ts';
import { useUnusedSystem } from '../systems/cli.ts';

const refusal: Refusal = { code: 107, error: 'Invalid arguments: the user is the last active member of Admin' };

for (const engine of engines)
  describe(engine, () => {
    const store = useUnusedSystem(engine);
    const adminRole = async (): Promise<Json> => {
      const { body } = await store.call('GET', '/platform/roles', { query: { where: { name: 'Admin' } } });
      return body.results[0];
    };
    const members = async (): Promise<string[]> => {
      const { objectId } = await adminRole();
      const isMember = { $relatedTo: { object: { __type: 'Pointer', className: '_Role', objectId }, key: 'users' } };
      const { body } = await store.call('GET', '/platform/users', { query: { where: isMember, order: 'objectId' } });
      return body.results.map((user: Json) => user.objectId);
    };
    /** Makes these users the only members of Admin. */
    async function setMembers(...users: readonly User[]): Promise<string> {
      const ids = users.map(({ id }) => id);
      let role = '';
      for (const id of ids) role = await setRole(store, id, 'Admin');
      const others = (await members()).filter((id) => !ids.includes(id));
      if (others.length > 0) {
        const body = { users: relate('RemoveRelation', '_User', others) };
        assert.equal((await store.call('PUT', `/platform/roles/${role}`, { body })).status, 200);
      }
      return role;
    }

    test('keys cannot block or delete them, nor take them out of the role, nor delete it', async () => {
      const [last, blocked] = [await signUp(store), await signUp(store, { active: false })];
      const role = await setMembers(last, blocked);
      const session = await newSession(store, last);
      const both = relate('RemoveRelation', '_User', [last.id, blocked.id]);
      const writes: [method: string, path: string, body?: object][] = [
        ['PUT', `/platform/users/${last.id}`, { active: false, job: 'x' }],
        ['PUT', `/platform/classes/_User/${last.id}`, { active: false }],
        ['DELETE', `/platform/users/${last.id}`],
        ['PUT', `/platform/roles/${role}`, { users: relate('RemoveRelation', '_User', [last.id]) }],
        ['PUT', `/platform/roles/${role}`, { users: both }],
        ['PUT', `/platform/roles/${role}`, { users: { __op: 'Batch', ops: [both] } }],
        ['PUT', `/platform/roles/${role}`, { users: { __op: 'Delete' } }],
        ['PUT', `/platform/roles/${role}`, { users: null }],
        ['DELETE', `/platform/roles/${role}`],
      ];
      for (const as of ['master', 'apiKey'] as const)
        for (const [method, path, body] of writes)
          assertRefused(await store.call(method, path, { as, ...(body && { body }) }), refusal);
      const requests = writes.map(([method, path, body]) => ({ method, path, body: body ?? {} }));
      const { body: results } = await store.call('POST', '/platform/batch', { body: { requests } });
      assert.deepEqual(
        results,
        writes.map(() => ({ error: refusal })),
      );
      assert.deepEqual(await members(), [last.id, blocked.id].sort());
      const { active, job } = await store.read('_User', last.id);
      assert.deepEqual([active, job], [undefined, undefined]);
      assert.ok(await isAlive(store, session), 'his session goes on');
    });

    test('nor can the last administrator with a session, where the permissions let users write roles', async () => {
      const { body: schema } = await store.call('GET', '/platform/schemas/_Role');
      const classLevelPermissions = { ...schema.classLevelPermissions, update: { 'role:Admin': true } };
      assert.equal((await store.call('PUT', '/platform/schemas/_Role', { body: { classLevelPermissions } })).status, 200);
      const last = await signUp(store);
      const role = await setMembers(last);
      const session = await newSession(store, last);
      const change = (users: unknown) => store.call('PUT', `/platform/roles/${role}`, { session, body: { users } });
      const leave = relate('RemoveRelation', '_User', [last.id]);
      assertRefused(await change(leave), refusal);
      const other = await signUp(store);
      assert.equal((await change(relate('AddRelation', '_User', [other.id]))).status, 200);
      assert.equal((await change(leave)).status, 200);
      assert.deepEqual(await members(), [other.id]);
    });

    test('where another member may sign in, each of them can go', async () => {
      const [one, other] = [await signUp(store), await signUp(store)];
      const role = await setMembers(one, other);
      await changeUser(store, one, { active: false });
      assertRefused(await updateUser(store, other.id, { active: false }), refusal);
      await changeUser(store, one, { active: true });
      await changeUser(store, other, { active: false });
      const body = { users: relate('RemoveRelation', '_User', [other.id]) };
      assert.equal((await store.call('PUT', `/platform/roles/${role}`, { body })).status, 200);
      assert.equal((await store.call('DELETE', `/platform/users/${other.id}`)).status, 200);
      assertRefused(await store.call('DELETE', `/platform/users/${one.id}`), refusal);
    });

    test('of two who are taken out at once one stays', async () => {
      const [one, other] = [await signUp(store), await signUp(store)];
      const role = await setMembers(one, other);
      const ways: ((user: User) => Promise<Answer>)[] = [
        ({ id }) => updateUser(store, id, { active: false }),
        ({ id }) => store.call('PUT', `/platform/roles/${role}`, { body: { users: relate('RemoveRelation', '_User', [id]) } }),
      ];
      for (const [first, second] of ways.flatMap((way) => ways.map((another) => [way, another] as const))) {
        for (const user of [one, other]) await changeUser(store, user, { active: true });
        await setMembers(one, other);
        const answers = await Promise.all([first(one), second(other)]);
        const refused = answers.filter(({ status }) => status !== 200);
        assert.equal(refused.length, 1, answers.map(({ text }) => text).join());
        assertRefused(refused[0] as Answer, refusal);
      }
    });

    test('a caller who cannot write the record learns nothing about administrators', async () => {
      const last = await signUp(store, { ACL: {} });
      const role = await setMembers(last);
      const stranger = await signUp(store);
      const session = await newSession(store, stranger);
      const answers = [
        await updateUser(store, last.id, { active: false }, { session }),
        await store.call('PUT', `/platform/roles/${role}`, { session, body: { users: null } }),
        await store.call('DELETE', `/platform/roles/${role}`, { session }),
      ];
      for (const { status, text } of answers) {
        assert.ok(status >= 400);
        assert.doesNotMatch(text, /last active/);
      }
    });
  });
