/** Actions write as the master, within the rules of system tables. Reference: triggers.md#actions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Json, pointer } from '../support/records.ts';
import { changeUser, login, newName, password, signUp, userPointer } from '../support/users.ts';
import { changed, creates, made, rows, runs, said, updates } from './effects.ts';
import { onAnyEngine } from './world.ts';

onAnyEngine((world) => {
  const errorsOf = async (triggerId: string) => (await world.log({ triggerId, error: { $exists: true } })).map(said);

  test('create-object of a user: the rules of a sign-up', async () => {
    const table = await world.place({ Word: 'String' });
    const fields = { username: '{{Name}}', password: '{{Word}}' };
    const trigger = await world.trigger({ table, events: ['create'], actions: [creates('_User', fields)] });
    const username = newName();
    await world.create(table, { Name: username, Word: password });
    await world.settle();
    assert.deepEqual(await errorsOf(trigger), []);
    assert.equal((await login(world, { username, password })).status, 200);
    for (const Word of [password, 'weak'])
      await world.effects(() => world.create(table, { Name: username, Word }), made(table), runs(1, 0, 1));
    const taken = 'Account already exists for this username.';
    assert.deepEqual(await errorsOf(trigger), [taken, 'Password does not meet the Password Policy requirements.']);
  });

  test('update-object of a user, by a Pointer', async () => {
    const user = await signUp(world);
    const table = await world.place({ OwnerId: 'Pointer:_User' });
    const trigger = await world.trigger({
      table,
      events: ['create'],
      actions: [updates('OwnerId', { name: '{{Name}}', active: false })],
    });
    await world.effects(
      () => world.create(table, { OwnerId: userPointer(user), Name: 'דנה' }),
      made(table),
      rows('_Session', -1),
      runs(),
    );
    const { body } = await world.call('GET', `/platform/users/${user.id}`);
    assert.deepEqual([body.name, body.active], ['דנה', false]);
    assert.deepEqual(await errorsOf(trigger), []);
    await changeUser(world, user, { active: true });
  });

  test('values that a table refuses: error rows with its errors', async () => {
    const table = await world.place({ Flag: 'Boolean' });
    const flag = newName();
    const actions = [
      creates('Config', { Name: flag, Value: '{{Flag}}' }),
      creates('Config', { Name: flag, Value: { [flag]: '{{Flag}}' } }),
    ];
    const trigger = await world.trigger({ table, events: ['create'], actions });
    await world.effects(() => world.create(table, { Flag: true }), made(table), runs(1, 1, 1));
    assert.deepEqual(
      (await world.find('Config', { Name: flag })).map(({ Value }) => Value),
      [{ [flag]: true }],
    );
    assert.deepEqual(await errorsOf(trigger), ['schema mismatch for Config.Value; expected Object but got Boolean']);
  });

  test('create-object of a trigger: it is held to the rules of definitions, and counts', async () => {
    const [table, heard] = [await world.place({ Of: 'String' }), await world.place()];
    const own = { Name: 'made', table: '{{Of}}', events: ['create'], actions: [creates(heard, { Name: 'by the made one' })] };
    const trigger = await world.trigger({ table, events: ['create'], actions: [creates('_Trigger', own)] });
    await world.effects(() => world.create(table, { Of: 'Nowhere' }), made(table), runs(1, 0, 1));
    assert.match((await errorsOf(trigger))[0] ?? '', /^Invalid trigger: /);
    await world.effects(() => world.create(table, { Of: heard }), made(table), rows('_Trigger'), runs());
    const [{ objectId }] = (await world.find('_Trigger', { Name: 'made' })) as [Json];
    await world.effects(() => world.create(heard, {}), made(heard, 4), runs(3, 3, 1));
    await world.remove('_Trigger', objectId);
  });

  test('fields that a table has not are added, as by any write of the master', async () => {
    const [table, target] = [await world.place({ n: 'Number' }), await world.place()];
    await world.trigger({
      table,
      events: ['create'],
      actions: [creates(target, { Fresh: '{{n}}' }), updates('self', { Also: 'x' })],
    });
    await world.effects(() => world.create(table, { n: 5 }), made(table), made(target), changed(table), runs(1, 2));
    assert.equal((await world.fields(target)).Fresh.type, 'Number');
    assert.equal((await world.fields(table)).Also.type, 'String');
  });

  test('a client’s permissions decide who fires, not what the trigger may do', async () => {
    const { token: session } = await signUp(world);
    const closed = await world.table({ Name: 'String' });
    const table = await world.place();
    const trigger = await world.trigger({ table, events: ['create'], actions: [creates(closed, { Name: '{{Name}}' })] });
    assert.equal((await world.post(closed, { Name: 'x' }, { session })).body.code, 119);
    const act = () => world.create(table, { Name: 'x' }, { session });
    const id = await world.effects(act, made(table), runs());
    const [{ Name, createdBy }] = (await world.all(closed)) as [Json];
    assert.deepEqual([Name, createdBy], ['x', pointer('_User', 'master')]);
    assert.equal((await world.log({ objectIdValue: id, triggerId: trigger })).length, 2);
    // The user may not read the log.
    assert.equal((await world.call('GET', '/platform/classes/_syslogTriggers', { session })).body.code, 119);
  });
});
