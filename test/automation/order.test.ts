/** Triggers run in order per record; an action is executed exactly once. Reference: triggers.md#order-and-delivery. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { path } from '../support/records.ts';
import { called, changed, creates, made, plus, runs, runsCode, updates } from './effects.ts';
import { onEachEngine } from './world.ts';

onEachEngine((world) => {
  const place = () => world.place({ n: 'Number', of: 'String' });
  const tell = (heard: string) => creates(heard, { n: '{{n}}', of: '{{objectId}}' });
  const put = (table: string, id: string, n: number) => ({ method: 'PUT', path: path(table, id), body: { n } });

  test('200 quick updates of one record, in batches: each once, in their order', async () => {
    const [table, heard] = [await place(), await place()];
    await world.trigger({ table, events: ['update'], actions: [tell(heard)] });
    const id = await world.create(table, { n: 0 });
    const requests = Array.from({ length: 200 }, (_, n) => put(table, id, n + 1));
    const act = async () => {
      for (const [from, to] of [
        [0, 100],
        [100, 150],
        [150, 200],
      ])
        await world.call('POST', '/platform/batch', { body: { requests: requests.slice(from, to) } });
    };
    await world.effects(act, changed(table, 200), made(heard, 200), runs(200));
    assert.deepEqual(
      (await world.find(heard)).map(({ n }) => n),
      Array.from({ length: 200 }, (_, n) => n + 1),
    );
  });

  test('a run of a record waits for the one before, however long that takes', async () => {
    const [table, heard] = [await place(), await place()];
    await world.trigger({ table, events: ['update'], actions: [runsCode('waits'), tell(heard)] });
    const ids = [await world.create(table, { n: 0 }), await world.create(table, { n: 0 })];
    const numbers = Array.from({ length: 30 }, (_, n) => n + 1);
    const requests = numbers.flatMap((n) => ids.map((id) => put(table, id, n)));
    const act = () => world.call('POST', '/platform/batch', { body: { requests } });
    await world.effects(act, changed(table, 60), made(heard, 60), called(60), runs(60, 120));
    const found = await world.find(heard);
    for (const id of ids)
      assert.deepEqual(
        found.filter(({ of }) => of === id).map(({ n }) => n),
        numbers,
      );
  });

  test('200 updates of one record side by side: each once, in the order of the timeline', async () => {
    const [table, heard] = [await place(), await place()];
    await world.trigger({ table, events: ['update'], changedFields: ['n'], actions: [tell(heard)] });
    const id = await world.create(table, { n: 0 });
    const act = () => Promise.all(Array.from({ length: 200 }, (_, n) => world.update(table, id, { n: n + 1 })));
    await world.effects(act, changed(table, 200), made(heard, 200), runs(200));
    const timeline = await world.find('_Timeline', { objectClass: table, event: 'update' });
    assert.deepEqual(
      (await world.find(heard)).map(({ n }) => n),
      timeline.map(({ data }) => data.n),
    );
  });

  test('many records at once: each has an order of its own, and none is lost', async () => {
    const [table, heard] = [await place(), await place()];
    await world.trigger({ table, events: ['create', 'update'], actions: [tell(heard)] });
    await world.trigger({ table, events: ['create'], actions: [tell(heard)] });
    const ids = Array.from({ length: 20 }, (_, at) => `record${String(at).padStart(4, '0')}`);
    const act = () =>
      Promise.all(
        ids.map(async (objectId) => {
          await world.create(table, { objectId, n: 0 });
          for (const n of [1, 2, 3]) await world.update(table, objectId, { n });
        }),
      );
    await world.effects(act, made(table, 20), changed(table, 60), made(heard, 100), runs(100));
    const found = await world.find(heard);
    for (const id of ids)
      assert.deepEqual(
        found.filter(({ of }) => of === id).map(({ n }) => n),
        [0, 0, 1, 2, 3],
        id,
      );
  });

  test('create, update and delete of one record, while its triggers run', async () => {
    const [table, heard] = [await place(), await world.place({ event: 'String' })];
    for (const event of ['create', 'update', 'delete'])
      await world.trigger({ table, events: [event], actions: [creates(heard, { Name: '{{Name}}', event })] });
    const item = (method: string, id?: string, body?: object) => ({ method, path: path(table, id), body });
    const requests = Array.from({ length: 10 }, (_, at) => [
      item('POST', undefined, { objectId: `again00000`, Name: `${at} made` }),
      item('PUT', `again00000`, { Name: `${at} changed` }),
      item('DELETE', `again00000`),
    ]).flat();
    const act = () => world.call('POST', '/platform/batch', { body: { requests } });
    const writes = { [`create ${table}`]: 10, [`update ${table}`]: 10, [`delete ${table}`]: 10 };
    await world.effects(act, writes, made(heard, 30), runs(30));
    const expected = Array.from({ length: 10 }, (_, at) => [
      ['create', `${at} made`],
      ['update', `${at} changed`],
      ['delete', `${at} changed`],
    ]);
    assert.deepEqual(
      (await world.find(heard)).map(({ event, Name }) => [event, Name]),
      expected.flat(),
    );
  });

  test('what triggers add up is exact: hundreds of Increments of one record by the triggers of others', async () => {
    const sum = await place();
    const table = await world.place({ Sum: `Pointer:${sum}`, n: 'Number' });
    const increment = { n: { __op: 'Increment', amount: '{{n}}' } };
    await world.trigger({ table, events: ['create'], actions: [updates('Sum', increment)] });
    const to = await world.create(sum, { n: 0 });
    const Sum = { __type: 'Pointer', className: sum, objectId: to };
    const requests = Array.from({ length: 200 }, (_, n) => ({ method: 'POST', path: path(table), body: { Sum, n: n + 1 } }));
    const act = () =>
      Promise.all(
        [0, 50, 100, 150].map((from) =>
          world.call('POST', '/platform/batch', { body: { requests: requests.slice(from, from + 50) } }),
        ),
      );
    await world.effects(act, plus(made(table, 200), changed(sum, 200), runs(200)));
    assert.equal((await world.read(sum, to)).n, (200 * 201) / 2);
  });
});
