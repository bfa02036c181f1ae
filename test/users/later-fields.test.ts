/** Fields of `_User` that the first write creates get their documented types. Reference: system-tables.md#_user. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertRefused, type Json, mismatch, pointer } from '../support/records.ts';
import { anyEngine } from '../support/service.ts';
import { changeUser, isAlive, login, newName, notActive, password, signUp, updateUser } from '../support/users.ts';
import { useUnusedSystem } from '../systems/cli.ts';

const members = { __op: 'AddRelation', objects: [pointer('_User', 'x')] };
const wrong: [string, Json, string][] = [
  ['active', '', 'String'],
  ['active', 'false', 'String'],
  ['active', 0, 'Number'],
  ['active', [], 'Array'],
  ['active', { a: 1 }, 'Object'],
  ['active', { __op: 'Increment', amount: 1 }, 'Number'],
  ['active', { __op: 'Add', objects: [true] }, 'Array'],
  ['active', { __op: 'SetOnInsert', amount: 'x' }, 'String'],
  ['active', members, 'Relation<_User>'],
  ['active.a', true, 'Object'],
  ['active.a', { __op: 'Increment', amount: 1 }, 'Object'],
  ['isPortalUser', 'yes', 'String'],
  ['phone', true, 'Boolean'],
  ['extension', [1], 'Array'],
  ['job', pointer('Tasks', 'x'), 'Pointer<Tasks>'],
];

for (const engine of anyEngine)
  describe(engine, () => {
    const store = useUnusedSystem(engine);

    for (const [key, value, got] of wrong)
      test(`\`_User\`: ${key} cannot begin as ${JSON.stringify(value)}`, async () => {
        const field = key.split('.')[0] as string;
        const { id } = await signUp(store);
        const before = await store.snapshot('_User');
        const refusal = mismatch('_User', field, field === 'active' || field === 'isPortalUser' ? 'Boolean' : 'String', got);
        const body = { username: newName(), password, [key]: value };
        assertRefused(await store.call('POST', '/platform/users', { body }), refusal);
        // SetOnInsert does not change an existing record, so it adds no field.
        if (value?.__op === 'SetOnInsert') await changeUser(store, { id } as Json, { [key]: value });
        else assertRefused(await updateUser(store, id, { [key]: value }), refusal);
        assert.deepEqual((await store.fields('_User'))[field], undefined);
        if (value?.__op !== 'SetOnInsert') assert.equal(await store.snapshot('_User'), before);
      });

    for (const value of [null, { __op: 'Delete' }])
      test(`\`_User\`: ${JSON.stringify(value)} adds no field`, async () => {
        const user = await signUp(store, { active: value, phone: value });
        await changeUser(store, user, { active: value, 'active.a': { __op: 'Delete' } });
        const fields = await store.fields('_User');
        assert.deepEqual([fields.active, fields.phone], [undefined, undefined]);
      });

    test('a user who signs up with active false gets no session, however it is written', async () => {
      const body = { username: newName(), password, active: { __op: 'SetOnInsert', amount: false } };
      const answer = await store.call('POST', '/platform/users', { body });
      assert.deepEqual(Object.keys(answer.body).sort(), ['createdAt', 'objectId'], answer.text);
      assertRefused(await login(store, body), notActive);
    });

    test('`_User`: the documented types, and a number is stored as text', async () => {
      const user = await signUp(store, { phone: 50, extension: '7', job: 'x', active: true, isPortalUser: false });
      const fields = await store.fields('_User');
      const types = ['phone', 'extension', 'job', 'active', 'isPortalUser'].map((name) => fields[name].type);
      assert.deepEqual(types, ['String', 'String', 'String', 'Boolean', 'Boolean']);
      assert.equal((await store.read('_User', user.id)).phone, '50');
      await changeUser(store, user, { active: false });
      assert.equal(await isAlive(store, user.token), false);
    });
  });
