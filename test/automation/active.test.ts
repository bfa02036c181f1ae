/** A trigger can be switched off with its `Active` column; a table without active triggers pays nothing. Reference: triggers.md#definition. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { path } from '../support/records.ts';
import { called, changed, creates, gone, made, nothing, rows, runs, runsCode, said } from './effects.ts';
import { onAnyEngine } from './world.ts';

onAnyEngine((world) => {
  test('switched off, on, off and on again, each at once; in a batch beside the write', async () => {
    const [table, heard] = [await world.place(), await world.place()];
    const id = await world.trigger({ table, events: ['create'], Active: false, actions: [creates(heard)] });
    const write = () => world.create(table, {});
    for (const Active of [false, true, false, true]) {
      await world.update('_Trigger', id, { Active });
      await world.effects(write, made(table), Active ? made(heard) : nothing, Active ? runs() : nothing);
    }
    await world.update('_Trigger', id, { Active: null });
    await world.effects(write, made(table), made(heard), runs());
  });

  test('a definition counts from its answer on, and not for writes before it', async () => {
    const [table, heard] = [await world.place(), await world.place()];
    for (let round = 0; round < 5; round++) {
      await world.effects(() => world.create(table, {}), made(table));
      const id = await world.trigger({ table, events: ['create'], actions: [creates(heard)] });
      await world.effects(() => world.create(table, {}), made(table), made(heard), runs());
      await world.remove('_Trigger', id);
    }
  });

  test('an action that is switched off is skipped without a row; the others are done', async () => {
    const [table, heard] = [await world.place(), await world.place()];
    const actions = [
      { ...creates(heard, { Name: '1' }), Active: false },
      { ...creates(heard, { Name: '2' }), Active: true },
      { ...runsCode('notes'), Active: false },
      creates(heard, { Name: '3' }),
    ];
    const trigger = await world.trigger({ table, events: ['create'], actions });
    await world.effects(() => world.create(table, {}), made(table), made(heard, 2), runs(1, 2));
    assert.deepEqual(
      (await world.find(heard)).map(({ Name }) => Name),
      ['2', '3'],
    );
    await world.update('_Trigger', trigger, { actions: actions.map((action) => ({ ...action, Active: false })) });
    await world.effects(() => world.create(table, {}), made(table), runs(1, 0));
  });

  test('other events, other tables', async () => {
    const [table, other, heard] = [await world.place(), await world.place(), await world.place()];
    await world.trigger({ table, events: ['delete'], actions: [creates(heard)] });
    const id = await world.effects(() => world.create(table, {}), made(table));
    await world.effects(() => world.update(table, id, { Name: 'x' }), changed(table));
    await world.effects(() => world.create(other, {}), made(other));
    await world.effects(() => world.remove(table, id), gone(table), made(heard), runs());
  });

  test('a definition whose parts are changed runs as it is now', async () => {
    const [table, other, heard] = [await world.place({ n: 'Number' }), await world.place(), await world.place()];
    const id = await world.trigger({ table, events: ['create'], actions: [creates(heard)] });
    await world.update('_Trigger', id, { criteria: { n: 1 } });
    await world.effects(() => world.create(table, { n: 2 }), made(table));
    await world.effects(() => world.create(table, { n: 1 }), made(table), made(heard), runs());
    await world.update('_Trigger', id, { events: ['update'], criteria: { __op: 'Delete' } });
    const record = await world.effects(() => world.create(table, { n: 1 }), made(table));
    await world.effects(() => world.update(table, record, {}), changed(table), made(heard), runs());
    await world.update('_Trigger', id, { table: other, events: ['create'] });
    await world.effects(() => world.update(table, record, {}), changed(table));
    await world.effects(() => world.create(other, {}), made(other), made(heard), runs());
  });

  for (const [how, switchOff] of [
    ['switched off', (id: string) => world.update('_Trigger', id, { Active: false })],
    ['deleted', (id: string) => world.remove('_Trigger', id)],
  ] as const)
    test(`decisions: a trigger that is ${how} before it ran does not run: one row says so`, async () => {
      const [table, heard] = [await world.place(), await world.place()];
      await world.trigger({ table, events: ['create'], actions: [runsCode('hold')] });
      const late = await world.trigger({ table, events: ['create'], actions: [creates(heard), creates(heard)] });
      world.hold();
      const before = world.calls().length;
      const act = async () => {
        const id = await world.create(table, {});
        for (const deadline = Date.now() + 5_000; world.calls().length === before; await world.queued())
          if (Date.now() > deadline) assert.fail('the first trigger does not run');
        await switchOff(late);
        world.release();
        return id;
      };
      const id = await world.effects(
        act,
        made(table),
        how === 'deleted' ? rows('_Trigger', -1) : nothing,
        called(),
        runs(1, 1, 1),
      );
      const [row, ...more] = await world.log({ triggerId: late });
      assert.deepEqual([more, row.actionId, row.objectIdValue, row.event], [[], undefined, id, 'create']);
      assert.match(said(row), how === 'deleted' ? /deleted/ : /switched off/);
    });

  test('tables without active triggers leave nothing in the queue', async () => {
    const [table, busy] = [await world.place(), await world.place()];
    await world.trigger({ table, events: ['create'], Active: false, actions: [creates(busy)] });
    await world.trigger({ table, events: ['delete'], actions: [creates(busy)] });
    await world.trigger({ table: busy, events: ['create'], actions: [runsCode('hold')] });
    const post = (to: string) => {
      const requests = Array.from({ length: 50 }, () => ({ method: 'POST', path: path(to), body: { Name: 'x' } }));
      return world.call('POST', '/platform/batch', { body: { requests } });
    };
    world.hold();
    const act = async () => {
      for (let round = 0; round < 5; round++) {
        await post(table);
        assert.deepEqual(await world.queued(), []);
      }
      await post(busy);
      assert.equal((await world.queued()).length, 50);
      world.release();
    };
    await world.effects(act, made(table, 250), made(busy, 50), called(50), runs(50));
  });

  test('ten triggers of one table, of which one is off, and one is of another event', async () => {
    const [table, heard] = [await world.place(), await world.place()];
    for (let n = 0; n < 10; n++) {
      const events = n === 7 ? ['update', 'delete'] : ['create', 'delete'];
      await world.trigger({ table, events, Active: n !== 3, actions: [creates(heard, { Name: String(n) })] });
    }
    await world.effects(() => world.create(table, {}), made(table), made(heard, 8), runs(8));
    assert.deepEqual(
      (await world.find(heard)).map(({ Name }) => Name),
      ['0', '1', '2', '4', '5', '6', '8', '9'],
    );
  });
});
