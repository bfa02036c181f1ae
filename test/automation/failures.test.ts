/** The order of triggers and actions; a failed one does not prevent the next. Reference: triggers.md#order-and-delivery. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Json, pointer } from '../support/records.ts';
import { signUp } from '../support/users.ts';
import { called, changed, creates, made, mailed, mails, notified, notifies, runs, runsCode, said, updates } from './effects.ts';
import { onAnyEngine } from './world.ts';

onAnyEngine((world) => {
  const idsOf = async (trigger: string): Promise<string[]> => {
    const [{ actions }] = (await world.find('_Trigger', { objectId: trigger })) as [Json];
    return actions.map(({ _id }: Json) => _id);
  };

  test('triggers run in the order in which they were created, actions in theirs', async () => {
    const table = await world.place();
    const heard = await world.place();
    const names = ['c', 'a', 'b'];
    for (const name of names)
      await world.trigger({
        table,
        Name: name,
        events: ['create'],
        actions: [1, 2, 3].map((n) => creates(heard, { Name: name + n })),
      });
    await world.effects(() => world.create(table, {}), made(table), made(heard, 9), runs(3, 9));
    const order = names.flatMap((name) => [`${name}1`, `${name}2`, `${name}3`]);
    assert.deepEqual(
      (await world.find(heard)).map(({ Name }) => Name),
      order,
    );
  });

  test('an action sees what the one before has done, in templates of Pointers; the record is that which fired', async () => {
    const other = await world.place({ n: 'Number' });
    const table = await world.place({ P: `Pointer:${other}`, n: 'Number' });
    const heard = await world.place({ own: 'Number', hop: 'Number' });
    const actions = [updates('self', { n: 2 }), updates('P', { n: 20 }), creates(heard, { own: '{{n}}', hop: '{{P.n}}' })];
    await world.trigger({ table, events: ['create'], actions });
    const P = pointer(other, await world.create(other, { n: 10 }));
    await world.effects(
      () => world.create(table, { n: 1, P }),
      made(table),
      changed(table),
      changed(other),
      made(heard),
      runs(1, 3),
    );
    const [{ own, hop }] = (await world.find(heard)) as [Json];
    assert.deepEqual({ own, hop }, { own: 1, hop: 20 });
  });

  test('one action of each type fails: an error row each, with the text; those between are done', async () => {
    const user = await signUp(world);
    const table = await world.place({ P: 'Pointer:Tags', n: 'Number' });
    const heard = await world.place({ n: 'Number' });
    const actions = [
      creates(heard, { n: 'no number' }),
      creates(heard, { Name: '1' }),
      updates('P', { Name: 'x' }),
      creates(heard, { Name: '2' }),
      notifies('{{P.nobody}}'),
      notifies(user.id),
      mails('{{Name}}'),
      mails('somebody@example.com'),
      runsCode('fails'),
      runsCode('notes'),
      updates('self', { n: 'no number' }),
      updates('self', { n: 1 }),
    ];
    const trigger = await world.trigger({ table, events: ['create'], actions });
    const id = await world.effects(
      () => world.create(table, { Name: 'plain' }),
      made(table),
      changed(table),
      made(heard, 2),
      notified(),
      mailed(),
      // Of the mail that has no recipient there is a row, too.
      made('Emails'),
      called(2),
      runs(1, 6, 6),
    );
    const ids = await idsOf(trigger);
    assert.equal(new Set(ids).size, 12);
    const [fired, ...ran] = await world.log({ triggerId: trigger });
    assert.deepEqual([fired.actionId, fired.error, fired.objectIdValue], [undefined, undefined, id]);
    assert.deepEqual(
      ran.map(({ actionId, error }) => [ids.indexOf(actionId), error !== undefined]),
      ids.map((_, at) => [at, at % 2 === 0]),
    );
    const errors = ran.filter(({ error }) => error !== undefined).map(({ error }) => error as string);
    // The error text is a JSON string (system-tables.md#_syslogtriggers).
    for (const error of errors) assert.equal(JSON.stringify(JSON.parse(error)), error);
    const mismatch = (of: string) => JSON.stringify(`schema mismatch for ${of}.n; expected Number but got String`);
    assert.deepEqual([errors[0], errors[4], errors[5]], [mismatch(heard), '"The shop is closed: \\"plain\\""', mismatch(table)]);
    for (const error of errors) assert.doesNotMatch(error, /undefined|null|\[object|\bat \/|SQLITE|server error/);
  });

  test('what a function does to what it was handed changes nothing for the next action', async () => {
    const table = await world.place({ n: 'Number' });
    const heard = await world.place({ n: 'Number', of: 'String' });
    const actions = [
      runsCode('mutates'),
      creates(heard, { Name: '{{Name}}', n: '{{n}}', of: '{{objectId}}' }),
      updates('self', { n: 2 }),
    ];
    const trigger = await world.trigger({ table, events: ['create'], actions });
    const act = () => world.create(table, { Name: 'a', n: 1 });
    const id = await world.effects(act, made(table), made(heard), changed(table), called(), runs(1, 3));
    const [{ Name, n, of }] = (await world.find(heard)) as [Json];
    assert.deepEqual({ Name, n, of }, { Name: 'a', n: 1, of: id });
    for (const { triggerId, data } of await world.log({ objectIdValue: id }))
      assert.deepEqual([triggerId, JSON.parse(data).Name], [trigger, 'a']);
  });

  test('a record that an action deletes: the next action of it is an error row, its delete fires', async () => {
    const table = await world.place({ Target: 'String' });
    const heard = await world.place();
    await world.trigger({
      table,
      events: ['create'],
      actions: [runsCode('removes'), updates('self', { Name: 'x' }), creates(heard, { Name: 'after' })],
    });
    await world.trigger({ table, events: ['delete'], actions: [creates(heard, { Name: 'gone' })] });
    const once = { [`create ${table}`]: 1, [`delete ${table}`]: 1 };
    const id = await world.effects(() => world.create(table, { Target: table }), once, made(heard, 2), called(), runs(2, 3, 1));
    assert.deepEqual((await world.find(heard)).map(({ Name }) => Name).sort(), ['after', 'gone']);
    const [row] = (await world.log({ objectIdValue: id, error: { $exists: true } })) as [Json];
    assert.equal(said(row), 'Object not found.');
  });

  test('a trigger that fails does not keep the next trigger, nor the next write, from running', async () => {
    const table = await world.place({ n: 'Number' });
    const heard = await world.place({ n: 'Number' });
    await world.trigger({ table, events: ['create', 'update'], actions: [runsCode('fails')] });
    await world.trigger({ table, events: ['create', 'update'], actions: [creates(heard, { n: '{{n}}' })] });
    const act = async () => {
      const id = await world.create(table, { n: 1 });
      for (const n of [2, 3]) await world.update(table, id, { n });
    };
    await world.effects(act, made(table), changed(table, 2), made(heard, 3), called(3), runs(6, 3, 3));
    assert.deepEqual(
      (await world.find(heard)).map(({ n }) => n),
      [1, 2, 3],
    );
  });

  test('the answer of a write knows nothing of its triggers, and does not wait for them', async () => {
    const table = await world.place();
    await world.trigger({ table, events: ['create', 'update', 'delete'], actions: [runsCode('hold'), runsCode('fails')] });
    world.hold();
    const act = async () => {
      const { status, body } = await world.post(table, { Name: 'a' });
      assert.deepEqual([status, Object.keys(body).sort()], [201, ['createdAt', 'objectId']]);
      const changedIt = await world.put(table, body.objectId, { Name: 'b' });
      assert.deepEqual([changedIt.status, Object.keys(changedIt.body).sort()], [200, ['objectId', 'updatedAt']]);
      const removed = await world.remove(table, body.objectId);
      assert.deepEqual([removed.status, removed.body], [200, {}]);
      assert.ok((await world.queued()).length >= 3, 'they are still to be run');
      world.release();
    };
    await world.effects(
      act,
      { [`create ${table}`]: 1, [`update ${table}`]: 1, [`delete ${table}`]: 1 },
      called(6),
      runs(3, 3, 3),
    );
  });

  test('while one record waits for its trigger, others go on', async () => {
    const table = await world.place();
    const heard = await world.place();
    await world.trigger({ table, events: ['create'], criteria: { Name: 'slow' }, actions: [runsCode('hold')] });
    await world.trigger({ table, events: ['create'], actions: [creates(heard, { Name: '{{Name}}' })] });
    world.hold();
    const act = async () => {
      await world.create(table, { Name: 'slow' });
      for (const Name of ['a', 'b', 'c']) await world.create(table, { Name });
      for (const deadline = Date.now() + 5_000; (await world.find(heard)).length < 3; )
        if (Date.now() > deadline) assert.fail('the others did not go on');
      world.release();
    };
    await world.effects(act, made(table, 4), made(heard, 4), called(), runs(5));
    assert.deepEqual((await world.find(heard)).map(({ Name }) => Name).sort(), ['a', 'b', 'c', 'slow']);
  });

  test('a target table that was deleted meanwhile is created again, as by any first write with a key', async () => {
    const table = await world.place();
    const target = await world.table();
    await world.trigger({
      table,
      events: ['create'],
      actions: [creates(target, { Name: 'x' }), updates('self', { Name: 'done' })],
    });
    assert.equal((await world.call('DELETE', `/platform/schemas/${target}`)).status, 200);
    const id = await world.create(table, {});
    await world.settle();
    assert.equal((await world.read(table, id)).Name, 'done');
    assert.deepEqual(
      (await world.find(target)).map(({ Name }) => Name),
      ['x'],
    );
    assert.deepEqual(await world.log({ objectIdValue: id, error: { $exists: true } }), []);
  });
});
