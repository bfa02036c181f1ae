/** Writes of system tables fire triggers too; what the service writes by itself fires none. Reference: triggers.md#events. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { path, pointer } from '../support/records.ts';
import {
  changeUser,
  failLogins,
  login,
  makeRole,
  newName,
  newRole,
  newSession,
  password,
  signUp,
  userPointer,
} from '../support/users.ts';
import { creates, gone, made, nothing, rows, runs } from './effects.ts';
import { onAnyEngine } from './world.ts';

onAnyEngine((world) => {
  let heard: string;
  const events = async () => (await world.find(heard)).map(({ Event }) => Event).sort();
  beforeEach(async () => {
    heard = await world.place({ Event: 'String', Of: 'String' });
  });
  const listen = async (table: string) => {
    for (const event of ['create', 'update', 'delete'])
      await world.trigger({ table, events: [event], actions: [creates(heard, { Event: event, Of: '{{objectId}}' })] });
  };

  test('Events 2: sign-up, update and delete by /users and /classes/_User', async () => {
    await listen('_User');
    const one = await world.effects(() => signUp(world), rows('_User'), rows('_Session'), made(heard), runs());
    await world.effects(() => changeUser(world, one, { name: 'Dana' }), made(heard), runs());
    await world.effects(() => changeUser(world, one, { password: 'Other5Pass' }), rows('_Session', -1), made(heard), runs());
    const remove = () => world.call('DELETE', `/platform/users/${one.id}`);
    await world.effects(remove, rows('_User', -1), made(heard), runs());
    const other = await world.effects(
      () => world.create('_User', { username: newName(), password }),
      rows('_User'),
      rows('_Session'),
      made(heard),
      runs(),
    );
    await world.effects(() => world.update('_User', other, { job: 'clerk' }), made(heard), runs());
    assert.deepEqual(await events(), ['create', 'create', 'delete', 'update', 'update', 'update']);
  });

  test('Events 2: what is refused fires nothing', async () => {
    const one = await signUp(world);
    const { token } = await signUp(world);
    await listen('_User');
    const act = async () => {
      for (const body of [{ username: one.username, password }, { username: newName(), password: 'weak' }, { password }])
        assert.equal((await world.call('POST', '/platform/users', { body })).status, 400);
      assert.equal((await world.call('PUT', `/platform/users/${one.id}`, { session: token, body: { name: 'x' } })).status, 400);
    };
    await world.effects(act, nothing);
  });

  test('decisions: what login notes, and its session, fire nothing', async () => {
    const one = await signUp(world);
    await listen('_User');
    await listen('_Session');
    await world.effects(() => newSession(world, one), rows('_Session'));
    await world.effects(() => failLogins(world, one.username, 2), nothing);
    await world.effects(() => login(world, { username: one.username, password }), rows('_Session'));
    await world.effects(() => world.call('GET', '/platform/users/me', { session: one.token }), nothing);
  });

  test('Events 2: sessions that a client makes, changes and deletes', async () => {
    const one = await signUp(world);
    await listen('_Session');
    const body = { user: userPointer(one) };
    const post = () => world.call('POST', '/platform/sessions', { body });
    const made1 = await world.effects(post, rows('_Session'), made(heard), runs());
    const at = `/platform/sessions/${made1.body.objectId}`;
    const note = () => world.call('PUT', at, { body: { Note: 'x' } });
    assert.equal((await world.effects(note, made(heard), runs())).status, 200);
    const remove = () => world.call('DELETE', at);
    assert.equal((await world.effects(remove, rows('_Session', -1), made(heard), runs())).status, 200);
    // By the user that it belongs to.
    const own = () => world.call('POST', '/platform/sessions', { session: one.token, body: {} });
    await world.effects(own, rows('_Session'), made(heard), runs());
    assert.deepEqual(await events(), ['create', 'create', 'delete', 'update']);
  });

  test('Events 2: roles, by /roles and by /classes/_Role', async () => {
    const user = await signUp(world);
    await listen('_Role');
    const id = await world.effects(() => makeRole(world, newName(), [user.id]), rows('_Role'), made(heard), runs());
    const take = { users: { __op: 'RemoveRelation', objects: [userPointer(user)] } };
    await world.effects(() => world.update('_Role', id, take), made(heard), runs());
    await world.effects(() => world.remove('_Role', id), rows('_Role', -1), made(heard), runs());
    assert.deepEqual(await events(), ['create', 'delete', 'update']);
  });

  test('a deleted user, and their sessions and roles: one write', async () => {
    const user = await signUp(world);
    await newRole(world, [user]);
    for (const table of ['_User', '_Session', '_Role']) await listen(table);
    const act = () => world.call('DELETE', `/platform/users/${user.id}`);
    await world.effects(act, rows('_User', -1), rows('_Session', -1), made(heard), runs());
  });

  test('_Timeline is writable with a key: such a write fires; the rows that the service writes do not', async () => {
    const table = await world.place();
    await listen('_Timeline');
    const row = { event: 'note', objectClass: 'Elsewhere', data: { a: 1 } };
    const act = () => world.create('_Timeline', row);
    const id = await world.effects(act, { 'note Elsewhere': 1 }, made(heard), runs());
    await world.effects(() => world.create(table, {}), made(table));
    await world.effects(() => world.remove('_Timeline', id), { 'note Elsewhere': -1 }, made(heard), runs());
    assert.deepEqual(await events(), ['create', 'delete']);
  });

  for (const log of ['_syslogTriggers', '_RequestLog'])
    test(`decisions: rows that the service writes into ${log} fire nothing`, async () => {
      const table = await world.place();
      await world.trigger({ table, events: ['create'], actions: [] });
      // Whether such a definition can be is open; that it makes no trouble is not.
      const body = { Name: 'log', table: log, events: ['create'], actions: [creates(heard)] };
      const { status, body: definition } = await world.post('_Trigger', body);
      assert.ok(status === 201 || status === 400, String(status));
      await world.effects(() => world.create(table, {}), made(table), runs(1, 0));
      if (status === 201) await world.call('DELETE', path('_Trigger', definition.objectId));
    });

  test('Events 2: Config and lookup tables, and _Trigger itself', async () => {
    await listen('Config');
    await listen('Tags');
    const flag = newName();
    const id = await world.effects(() => world.create('Config', { Name: flag, Value: { [flag]: true } }), made(heard), runs());
    await world.effects(() => world.remove('Config', id), made(heard), runs());
    const tag = await world.effects(() => world.create('Tags', { Name: 'new' }), made(heard), runs());
    await world.effects(() => world.update('Tags', tag, { Name: 'newer' }), made(heard), runs());
    const table = await world.place();
    const definition = { table: '_Trigger', events: ['create'], actions: [creates(heard, { Of: '{{Name}}' })] };
    await world.trigger(definition);
    await world.effects(
      () => world.trigger({ Name: 'watched', table, events: ['update'], actions: [] }),
      rows('_Trigger'),
      made(heard),
      runs(),
    );
    assert.equal((await world.find(heard)).at(-1)?.Of, 'watched');
  });

  test('a record that is pointed at stays, and fires nothing', async () => {
    const table = await world.place();
    const other = await world.place({ P: `Pointer:${table}` });
    const id = await world.create(table, {});
    const holder = await world.create(other, { P: pointer(table, id) });
    await listen(table);
    await world.effects(() => world.remove(table, id), nothing);
    await world.remove(other, holder);
    await world.settle();
    await world.effects(() => world.remove(table, id), gone(table), made(heard), runs());
  });
}, 'apart');
