/** Writes by `where` of tables of the service: the rules of single writes hold. Reference: records.md#write-many-records. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertRefused, type Json, path, pointer, unique, useOwnStore } from '../support/records.ts';
import { sampledEngines } from '../support/service.ts';
import { denied, join, newName, password, setRole, signUp } from '../support/users.ts';

for (const engine of sampledEngines())
  describe(engine, () => {
    const store = useOwnStore(engine);
    const { call } = store;
    const many = (method: 'PUT' | 'DELETE', at: string, query: Json, body?: Json, options: Json = {}) =>
      call(method, at, { ...options, query, ...(body && { body }) });

    test('logs that refuse DELETE refuse it for all, and before anything else', async () => {
      for (const table of ['_syslogTriggers', '_syslogSMS'])
        for (const query of [{ where: {} }, { where: {}, dryRun: 1 }, {}])
          assertRefused(await many('DELETE', path(table), query), { code: 119, error: 'Action is denied for system tables' });
    });

    test('hidden tables, anonymous callers, wrong keys', async () => {
      const where = { where: { n: 1 } };
      assertRefused(await many('PUT', path('_StoredFile'), where, {}), { code: 119 });
      const captcha = { code: 119, error: 'This action is not allowed without a valid CAPTCHA' };
      for (const method of ['PUT', 'DELETE'] as const) {
        assertRefused(await many(method, path('Accounts'), where, {}, { as: 'anonymous' }), captcha);
        const wrong = { as: 'anonymous', headers: { 'X-Platform-API-Key': 'wrong' } };
        const action = method === 'PUT' ? 'update' : 'delete';
        assertRefused(await many(method, path('Accounts'), where, {}, wrong), denied(action, 'Accounts'));
      }
    });

    test('users: a session user changes none; a key changes all, by the rules for each', async () => {
      const users = await Promise.all([signUp(store, { job: 'a' }), signUp(store, { job: 'a' })]);
      const session = users[0].token;
      for (const at of ['/platform/users', path('_User')]) {
        const refused = await many('PUT', at, { where: { job: 'a' } }, { job: 'b' }, { session });
        assertRefused(refused, { code: 206, error: 'Cannot modify user *.' });
        assertRefused(await many('DELETE', at, { where: { job: 'a' } }, undefined, { session }), denied('delete', '_User'));
      }
      const weak = await many('PUT', '/platform/users', { where: { job: 'a' } }, { password: 'weak' });
      assert.deepEqual([weak.body.matched, weak.body.updated], [2, 0]);
      assert.deepEqual(new Set(weak.body.refused.map(({ code }: Json) => code)), new Set([142]));
      const same = await many('PUT', '/platform/users', { where: { job: 'a' } }, { username: newName() });
      assert.deepEqual([same.body.updated, same.body.refused[0].code, same.body.refused.length], [1, 202, 1]);
      const changed = await many('PUT', path('_User'), { where: { job: 'a' } }, { password: `${password}9` });
      assert.deepEqual(changed.body, { matched: 2, updated: 2, refused: [] });
      const login = await call('POST', '/platform/login', {
        as: 'anonymous',
        body: { username: users[1].username, password: `${password}9` },
      });
      assert.equal(login.body.code, same.body.refused[0].objectId === users[1].id ? undefined : 101, login.text);
      // The log names the first one, since a request of the user's was refused above.
      const gone = await many('DELETE', '/platform/users', { where: { job: 'a' }, expect: 2 });
      const error = `Pointer to Object ${users[0].id} exists in table _RequestLog in key user. Delete is not allowed.`;
      assert.deepEqual(gone.body, { matched: 2, deleted: 1, refused: [{ objectId: users[0].id, code: 119, error }] });
    });

    test('users: the last administrator stays', async () => {
      const [one, other] = await Promise.all([signUp(store), signUp(store)]);
      await join(store, 'Admin', [one, other]);
      const where = { active: { $ne: false } };
      const { body } = await many('PUT', '/platform/users', { where }, { active: false });
      assert.equal(body.updated, body.matched - 1);
      assert.deepEqual([body.refused.length, body.refused[0].code], [1, 107]);
      const left = await many('DELETE', '/platform/users', { where: { objectId: body.refused[0].objectId } });
      assert.deepEqual([left.body.deleted, left.body.refused[0].code], [0, 107]);
      await call('PUT', `/platform/users/${one.id}`, { body: { active: true } });
      await setRole(store, one.id, 'Admin', true);
    });

    test('sessions: a user ends the own ones', async () => {
      const [user, other] = await Promise.all([signUp(store), signUp(store)]);
      const all = { where: { createdAt: { $exists: true } } };
      const { body } = await many('DELETE', '/platform/sessions', all, undefined, { session: user.token });
      assert.deepEqual(body, { matched: 1, deleted: 1, refused: [] });
      assert.equal((await call('GET', '/platform/users/me', { session: user.token })).body.code, 209);
      assert.equal((await call('GET', '/platform/users/me', { session: other.token })).status, 200);
    });

    test('Config: a bare Value is refused for each', async () => {
      const Name = unique('Flag');
      await store.create('Config', { Name, Value: { [Name]: true } });
      const { body } = await many('PUT', path('Config'), { where: { Name } }, { Value: true });
      assert.equal(body.code ?? body.refused[0].code, 111);
      const written = await many('PUT', path('Config'), { where: { Name } }, { Value: { [Name]: false } });
      assert.deepEqual(written.body, { matched: 1, updated: 1, refused: [] });
    });

    test('triggers: a definition is checked for each', async () => {
      const table = await store.table({ n: 'Number' });
      const Name = unique('Trigger');
      const actions = [{ type: 'notification', actionData: { user: 'nobody0000', content: 'x' } }];
      await store.create('_Trigger', { Name, table, events: ['create'], actions });
      const bad = await many('PUT', path('_Trigger'), { where: { Name } }, { events: ['never'] });
      assert.deepEqual([bad.body.updated, bad.body.refused[0].code], [0, 107]);
      const off = await many('PUT', path('_Trigger'), { where: { Name } }, { Active: false });
      assert.equal(off.body.updated, 1);
      assert.equal((await many('DELETE', path('_Trigger'), { where: { Name } })).body.deleted, 1);
    });

    test('the timeline is written by keys alone', async () => {
      const table = await store.table({ n: 'Number' });
      const where = { objectClass: table };
      await store.create('_Timeline', { event: 'create', objectClass: table, objectIdValue: 'x' });
      const { token } = await signUp(store);
      assertRefused(await many('DELETE', path('_Timeline'), { where }, undefined, { session: token }), { code: 119 });
      assert.equal((await many('DELETE', path('_Timeline'), { where })).body.deleted, 1);
    });

    test('a new field needs the right to add one; a hidden field cannot be written', async () => {
      const name = unique('Closed');
      const rights = { find: { '*': true }, get: { '*': true }, update: { '*': true }, protectedFields: { '*': ['secret'] } };
      const fields = { n: { type: 'Number' }, secret: { type: 'String' } };
      await call('POST', `/platform/schemas/${name}`, { body: { fields, classLevelPermissions: rights } });
      const id = await store.create(name, { n: 1 });
      const { token } = await signUp(store);
      const by = { session: token };
      assertRefused(await many('PUT', path(name), { where: { n: 1 } }, { fresh: 1 }, by), denied('addField', name));
      assertRefused(await many('PUT', path(name), { where: { n: 1 } }, { secret: 'x' }, by), { code: 119 });
      assert.deepEqual((await many('PUT', path(name), { where: { n: 1 } }, { n: 2 }, by)).body.updated, 1);
      const row = await store.read(name, id);
      assert.deepEqual(row.updatedBy, pointer('_User', row.updatedBy.objectId));
      assert.deepEqual([row.n, row.fresh, row.secret], [2, undefined, undefined]);
    });
  });
