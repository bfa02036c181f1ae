import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertRefused, type Refusal, unique, useStore } from '../support/records.ts';
import { type CallOptions, sampledEngines } from '../support/service.ts';
import { captcha, changeRole, denied, newRole, notFound, signUp } from '../support/users.ts';

for (const engine of sampledEngines())
  describe(engine, () => {
    const store = useStore(engine);
    const roles = (method: string, id: string, options: CallOptions = {}) =>
      store.call(method, `/platform/roles${id && `/${id}`}`, options);

    test('Records/Roles: /roles is an alias of /classes/_Role', async () => {
      const name = unique('Role');
      const made = await roles('POST', '', { body: { name } });
      assert.equal(made.status, 201, made.text);
      assert.deepEqual(Object.keys(made.body).sort(), ['createdAt', 'objectId']);
      const id = made.body.objectId;
      const record = await store.read('_Role', id);
      assert.equal(record.name, name);
      assert.deepEqual(record.users, { __type: 'Relation', className: '_User' });
      assert.deepEqual(record.roles, { __type: 'Relation', className: '_Role' });
      assert.deepEqual((await roles('GET', id)).body, record);
      assert.deepEqual((await roles('GET', '', { query: { where: { name } } })).body.results, [record]);
      assert.equal((await roles('PUT', id, { body: { Label: 'x' } })).status, 200);
      assert.equal((await store.read('_Role', id)).Label, 'x');
      assert.equal((await roles('DELETE', id)).status, 200);
      assertRefused(await store.get('_Role', id), notFound);
    });

    test('Records/Roles: the API key keeps roles too', async () => {
      const made = await roles('POST', '', { as: 'apiKey', body: { name: unique('Role') } });
      assert.equal(made.status, 201, made.text);
      assert.equal((await roles('DELETE', made.body.objectId, { as: 'apiKey' })).status, 200);
    });

    for (const name of ['A', 'Sales Team_1-x', 'a'.repeat(100), '7'])
      test(`a name of 1 to 100 letters, digits, spaces, _ or -: ${name.slice(0, 20)}`, async () => {
        const made = await roles('POST', '', { body: { name } });
        assert.equal(made.status, 201, made.text);
        await roles('DELETE', made.body.objectId);
      });

    for (const [what, body] of [
      ['no name', {}],
      ['an empty name', { name: '' }],
      ['null', { name: null }],
      ['101 letters', { name: 'a'.repeat(101) }],
      ['a slash', { name: 'a/b' }],
      ['a colon', { name: 'role:A' }],
      ['a star', { name: '*' }],
      ['a line end', { name: 'Sales\n' }],
      ['a dot', { name: 'a.b' }],
    ] as const)
      test(`${what} is 139`, async () => {
        const before = await store.snapshot('_Role');
        const refusal: Refusal = { code: 139, error: 'Invalid role name.' };
        assertRefused(await roles('POST', '', { body }), refusal);
        assertRefused(await store.post('_Role', body), refusal);
        assert.equal(await store.snapshot('_Role'), before);
      });

    test('a second role of a name is 137', async () => {
      const { name } = await newRole(store);
      const before = await store.snapshot('_Role');
      assertRefused(await roles('POST', '', { body: { name } }), { code: 137 });
      assertRefused(await roles('POST', '', { as: 'apiKey', body: { name } }), { code: 137 });
      assert.equal(await store.snapshot('_Role'), before);
    });

    test('of two of one name in a batch the second fails alone', async () => {
      const item = { method: 'POST', path: '/platform/roles', body: { name: unique('Role') } };
      const { body } = await store.call('POST', '/platform/batch', { body: { requests: [item, item] } });
      assert.ok(body[0].success.objectId);
      assert.equal(body[1].error.code, 137);
    });

    for (const value of [unique('Other'), null, { __op: 'Delete' }])
      test(`a name cannot be changed: ${JSON.stringify(value).slice(0, 12)}`, async () => {
        const role = await newRole(store);
        assertRefused(await roles('PUT', role.id, { body: { name: value } }), { code: 136 });
        assert.equal((await store.read('_Role', role.id)).name, role.name);
      });

    test('a name is free once its role is deleted', async () => {
      const { id, name } = await newRole(store);
      await roles('DELETE', id);
      assert.equal((await roles('POST', '', { body: { name } })).status, 201);
    });

    test('Records/Roles: members are Relations, by AddRelation and RemoveRelation', async () => {
      const [one, two] = [await signUp(store), await signUp(store)];
      const below = await newRole(store);
      const role = await newRole(store, [one, two], [below]);
      assert.deepEqual(await store.members('_Role', role.id, 'users', '_User'), [one.id, two.id].sort());
      assert.deepEqual(await store.members('_Role', role.id, 'roles', '_Role'), [below.id]);
      await changeRole(store, role, 'RemoveRelation', { users: one, roles: below });
      assert.deepEqual(await store.members('_Role', role.id, 'users', '_User'), [two.id]);
      assert.deepEqual(await store.members('_Role', role.id, 'roles', '_Role'), []);
    });

    test('Permissions: a user without the right neither reads nor writes roles, not even their own', async () => {
      const user = await signUp(store);
      const role = await newRole(store, [user]);
      const session = user.token;
      const before = await store.snapshot('_Role');
      assertRefused(await roles('GET', '', { session }), denied('find', '_Role'));
      assertRefused(await roles('GET', role.id, { session }), denied('get', '_Role'));
      assertRefused(await roles('POST', '', { session, body: { name: unique('R') } }), denied('create', '_Role'));
      const users = { __op: 'AddRelation', objects: [] };
      assertRefused(await roles('PUT', role.id, { session, body: { users } }), denied('update', '_Role'));
      assertRefused(await roles('DELETE', role.id, { session }), denied('delete', '_Role'));
      assertRefused(await roles('POST', '', { as: 'anonymous', body: { name: unique('R') } }), captcha);
      assertRefused(await roles('PUT', role.id, { as: 'anonymous', body: {} }), captcha);
      assert.equal(await store.snapshot('_Role'), before);
    });
  });
