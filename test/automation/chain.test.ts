/** Writes of triggers fire further triggers; the chain is limited to 3 levels. Reference: triggers.md#chain-depth. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Json, pointer } from '../support/records.ts';
import { signUp } from '../support/users.ts';
import { called, changed, creates, made, mails, nothing, plus, rows, runs, runsCode, said, updates } from './effects.ts';
import { onEachEngine } from './world.ts';

/** The spelling is part of the interface (system-tables.md#_syslogtriggers). */
const blocked = (source: string) => `blocked! trigger step is to deep -3. source trigger: ${source}`;

onEachEngine((world) => {
  /** The rows of triggers that were blocked, which have no action. */
  const breaches = async (...triggers: string[]): Promise<Json[]> => {
    const found = await world.log({ triggerId: { $in: triggers }, error: { $exists: true } });
    for (const row of found) assert.equal(row.actionId, undefined);
    return found;
  };

  test('three levels run, the 4th is blocked and logged with the id of the level-1 trigger', async () => {
    const places: string[] = [];
    for (let level = 0; level <= 4; level++) places.push(await world.place());
    const ids: string[] = [];
    for (let level = 1; level <= 4; level++) {
      const actions = [creates(places[level] as string, { Name: '{{Name}}.' }), creates(places[level] as string)];
      ids.push(
        await world.trigger({ table: places[level - 1], events: ['create'], actions: actions.slice(0, level === 4 ? 2 : 1) }),
      );
    }
    const [first = '', second = '', third = '', fourth = '', fifth = ''] = places;
    const act = () => world.create(first, { Name: 'a' });
    await world.effects(act, made(first), made(second), made(third), made(fourth), runs(3, 3, 1));
    assert.deepEqual(await world.find(fifth), []);
    const [last] = (await world.find(fourth)) as [Json];
    assert.equal(last.Name, 'a...');
    const [row, ...more] = await breaches(...ids);
    assert.deepEqual(more, []);
    assert.deepEqual([row.triggerId, row.objectIdValue, row.event], [ids[3], last.objectId, 'create']);
    assert.equal(row.error, JSON.stringify(blocked(ids[0] as string)));
    // Begun one table later, the same chain ends before it is too deep.
    await world.effects(() => world.create(second, {}), made(second), made(third), made(fourth), made(fifth, 2), runs(3, 4));
  });

  test('depth exactly 3: a third level that fires nothing more is not logged as a breach', async () => {
    const last = await world.place();
    const third = await world.place();
    const second = await world.place();
    const first = await world.place();
    for (const [from, to] of [
      [first, second],
      [second, third],
      [third, last],
    ] as const)
      await world.trigger({ table: from, events: ['create'], actions: [creates(to)] });
    await world.effects(() => world.create(first, {}), made(first), made(second), made(third), made(last), runs(3));
  });

  test('a 4th level whose criteria do not hold, or that is switched off, is no breach', async () => {
    const table = await world.place({ n: 'Number' });
    const increment = { n: { __op: 'Increment', amount: 1 } };
    await world.trigger({ table, events: ['update'], criteria: { n: { $lt: 4 } }, actions: [updates('self', increment)] });
    await world.trigger({ table, events: ['update'], criteria: { n: 4 }, Active: false, actions: [updates('self', increment)] });
    const id = await world.create(table, { n: 0 });
    await world.effects(() => world.update(table, id, { n: 1 }), changed(table, 4), runs(3));
    assert.equal((await world.read(table, id)).n, 4);
  });

  test('a trigger that fires itself: three times, then one row', async () => {
    const table = await world.place({ n: 'Number' });
    const increment = { n: { __op: 'Increment', amount: 1 } };
    const trigger = await world.trigger({ table, events: ['update'], actions: [updates('self', increment)] });
    const id = await world.create(table, { n: 0 });
    for (let round = 1; round <= 2; round++)
      await world.effects(() => world.update(table, id, { Name: 'x' }), changed(table, 4), runs(3, 3, 1));
    assert.equal((await world.read(table, id)).n, 6);
    assert.deepEqual((await breaches(trigger)).map(said), [blocked(trigger), blocked(trigger)]);
  });

  test('changedFields end a chain before it is too deep', async () => {
    const table = await world.place({ n: 'Number' });
    await world.trigger({ table, events: ['update'], changedFields: ['n'], actions: [updates('self', { n: 7 })] });
    const id = await world.create(table, { n: 0 });
    await world.effects(() => world.update(table, id, { n: 1 }), changed(table, 3), runs(2));
    await world.effects(() => world.update(table, id, { n: 7 }), changed(table));
  });

  test('two tables in ping-pong: creates', async () => {
    const [ping, pong] = [await world.place(), await world.place()];
    const one = await world.trigger({ table: ping, events: ['create'], actions: [creates(pong, { Name: '{{Name}}o' })] });
    const two = await world.trigger({ table: pong, events: ['create'], actions: [creates(ping, { Name: '{{Name}}i' })] });
    await world.effects(() => world.create(ping, { Name: 'p' }), made(ping, 2), made(pong, 2), runs(3, 3, 1));
    assert.deepEqual(
      (await world.find(pong)).map(({ Name }) => Name),
      ['po', 'poio'],
    );
    const [row] = await breaches(one, two);
    assert.deepEqual([row.triggerId, said(row)], [two, blocked(one)]);
    await world.effects(() => world.create(pong, { Name: 'p' }), made(ping, 2), made(pong, 2), runs(3, 3, 1));
    assert.deepEqual(
      (await breaches(one, two)).map((row) => [row.triggerId, said(row)]),
      [
        [two, blocked(one)],
        [one, blocked(two)],
      ],
    );
  });

  test('two records that update each other end', async () => {
    const [ping, pong] = [await world.place({ n: 'Number' }), await world.place({ n: 'Number' })];
    await world.addFields(ping, { Other: `Pointer:${pong}` });
    await world.addFields(pong, { Other: `Pointer:${ping}` });
    const increment = { n: { __op: 'Increment', amount: 1 } };
    for (const table of [ping, pong]) await world.trigger({ table, events: ['update'], actions: [updates('Other', increment)] });
    const one = await world.create(ping, { n: 0 });
    const two = await world.create(pong, { n: 0, Other: pointer(ping, one) });
    const act = () => world.update(ping, one, { Other: pointer(pong, two) });
    await world.effects(act, changed(ping, 2), changed(pong, 2), runs(3, 3, 1));
    assert.deepEqual([(await world.read(ping, one)).n, (await world.read(pong, two)).n], [1, 2]);
  });

  test('branches are counted each by itself, each with its own source', async () => {
    const [table, loop] = [await world.place(), await world.place()];
    const sources: string[] = [];
    for (const name of ['a', 'b'])
      sources.push(await world.trigger({ table, events: ['create'], actions: [creates(loop, { Name: name })] }));
    const self = await world.trigger({ table: loop, events: ['create'], actions: [creates(loop, { Name: '{{Name}}+' })] });
    await world.effects(() => world.create(table, {}), made(table), made(loop, 6), runs(2), runs(4, 4, 2));
    assert.deepEqual((await world.find(loop)).map(({ Name }) => Name).sort(), ['a', 'a+', 'a++', 'b', 'b+', 'b++']);
    assert.deepEqual((await breaches(self)).map(said).sort(), sources.map(blocked).sort());
  });

  test('an action that writes twice as much: a tree of three levels', async () => {
    const table = await world.place();
    const self = await world.trigger({ table, events: ['create'], actions: [creates(table), creates(table)] });
    await world.effects(() => world.create(table, {}), made(table, 1 + 2 + 4 + 8), runs(1 + 2 + 4, 14, 8));
    assert.deepEqual(new Set((await breaches(self)).map(said)), new Set([blocked(self)]));
  });

  for (const useQueue of [false, true])
    test(`writes of a function that a trigger calls count as levels (useQueue ${useQueue})`, async () => {
      const table = await world.place({ Target: 'String' });
      const trigger = await world.trigger({ table, events: ['create'], actions: [runsCode('creates', useQueue)] });
      await world.effects(() => world.create(table, { Target: table }), made(table, 4), called(3), runs(3, 3, 1));
      assert.deepEqual((await breaches(trigger)).map(said), [blocked(trigger)]);
    });

  test('all writes of a function fire: create, update, delete', async () => {
    const [table, target, heard] = [await world.place({ Target: 'String' }), await world.place(), await world.place()];
    await world.trigger({ table, events: ['create'], actions: [runsCode('acts')] });
    await world.trigger({
      table: target,
      events: ['create', 'update', 'delete'],
      actions: [creates(heard, { Name: '{{Name}}' })],
    });
    const once = { [`create ${target}`]: 1, [`update ${target}`]: 1, [`delete ${target}`]: 1 };
    await world.effects(() => world.create(table, { Target: target }), made(table), once, made(heard, 3), called(), runs(4));
    assert.deepEqual(
      (await world.find(heard)).map(({ Name }) => Name),
      ['made', 'changed', 'changed'],
    );
  });

  test('a function that a client calls begins a chain of its own', async () => {
    const table = await world.place();
    const trigger = await world.trigger({ table, events: ['create'], actions: [creates(table)] });
    const act = async () => assert.equal((await world.send('writes', { body: { table, all: [{}] } })).status, 200);
    await world.effects(act, made(table, 4), runs(3, 3, 1));
    assert.deepEqual((await breaches(trigger)).map(said), [blocked(trigger)]);
  });

  test('rows of Emails and of _Notification that an action writes fire as any other write', async () => {
    const user = await signUp(world);
    const [table, heard] = [await world.place(), await world.place()];
    const notify = { type: 'notification', actionData: { user: user.id, content: 'x' } };
    await world.trigger({ table, events: ['create'], actions: [mails('a@example.com'), notify] });
    await world.trigger({ table: 'Emails', events: ['create', 'update'], actions: [creates(heard, { Name: '{{SendStatus}}' })] });
    await world.trigger({ table: '_Notification', events: ['create'], actions: [creates(heard, { Name: '{{Content}}' })] });
    const mail = plus({ mails: 1 }, made('Emails'), changed('Emails'));
    await world.effects(() => world.create(table, {}), made(table), mail, rows('_Notification'), made(heard, 3), runs(4, 5));
    assert.deepEqual((await world.find(heard)).map(({ Name }) => Name).sort(), ['queued', 'sent', 'x']);
  });

  test('deletes by a chain, and what a blocked trigger would have done', async () => {
    const [table, other] = [await world.place({ Target: 'String' }), await world.place()];
    await world.trigger({ table, events: ['delete'], actions: [creates(other)] });
    const id = await world.create(table, {});
    await world.effects(() => world.remove(table, id), { [`records ${table}`]: -1, [`delete ${table}`]: 1 }, made(other), runs());
    await world.effects(() => world.remove(table, id), nothing);
  });
});
