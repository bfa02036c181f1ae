/** Triggers of a transaction. Reference: batch.md#transactions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { path, unique } from '../support/records.ts';
import { changed, creates, gone, made, nothing, plus, runs } from './effects.ts';
import { onEachEngine } from './world.ts';

onEachEngine((world) => {
  const place = () => world.place({ n: 'Number' });
  const send = (requests: readonly object[]) => world.call('POST', '/platform/batch', { body: { transaction: true, requests } });
  const post = (table: string, body: object) => ({ method: 'POST', path: path(table), body });
  const put = (table: string, id: string, body: object) => ({ method: 'PUT', path: path(table, id), body });
  const remove = (table: string, id: string) => ({ method: 'DELETE', path: path(table, id) });

  test('each item fires what it would fire by itself, with the record as it left it', async () => {
    const [table, heard] = [await place(), await place()];
    await world.trigger({ table, events: ['create', 'update'], actions: [creates(heard, { n: '{{n}}' })] });
    const objectId = unique('own');
    const items = [post(table, { objectId, n: 1 }), put(table, objectId, { n: 2 }), put(table, objectId, { n: 3 })];
    const act = async () => assert.equal((await send(items)).status, 200);
    await world.effects(act, made(table), changed(table, 2), made(heard, 3), runs(3));
    assert.deepEqual(
      (await world.find(heard)).map(({ n }) => n),
      [1, 2, 3],
    );
  });

  test('changedFields: an update is compared with the record before it, also in the same transaction', async () => {
    const [table, heard] = [await place(), await place()];
    await world.trigger({ table, events: ['update'], changedFields: ['n'], actions: [creates(heard, { n: '{{n}}' })] });
    const id = await world.create(table, { n: 1 });
    const items = [put(table, id, { n: 1 }), put(table, id, { n: 2 }), put(table, id, { n: 2 }), put(table, id, { n: 1 })];
    const act = async () => assert.equal((await send(items)).status, 200);
    await world.effects(act, changed(table, 4), made(heard, 2), runs(2));
    assert.deepEqual(
      (await world.find(heard)).map(({ n }) => n),
      [2, 1],
    );
  });

  test('a record that is made, changed and deleted fires all three', async () => {
    const [table, heard] = [await place(), await place()];
    await world.trigger({ table, events: ['create', 'update', 'delete'], actions: [creates(heard, {})] });
    const objectId = unique('own');
    const items = [post(table, { objectId, n: 1 }), put(table, objectId, { n: 2 }), remove(table, objectId)];
    const act = async () => assert.equal((await send(items)).status, 200);
    await world.effects(act, plus(made(table), gone(table)), changed(table), made(heard, 3), runs(3));
  });

  test('a transaction that fails fires nothing and leaves no row', async () => {
    const [table, heard] = [await place(), await place()];
    await world.trigger({ table, events: ['create', 'update', 'delete'], actions: [creates(heard, {})] });
    const id = await world.create(table, { n: 1 });
    await world.settle();
    const good = [post(table, { n: 2 }), put(table, id, { n: 2 }), remove(table, id)];
    for (const bad of [put(table, 'nobody0000', {}), post(table, { n: 'x' }), post('_User', { username: '' })])
      await world.effects(async () => assert.ok((await send([...good, bad])).status >= 400), nothing);
  });
});
