import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { serviceError } from '../../errors/fail.ts';
import { createRecord } from '../../records/index.ts';
import { masterContext } from '../../records/testing/context.ts';
import type { SqliteStore } from '../../storage/sqlite/store.ts';
import { eachWithStore } from '../../storage/sqlite/testing/stores.ts';
import type { ActionRun } from '../model/action.ts';
import { makeTables } from '../schedule/testing/tables.ts';
import { finish, left, logged, madeIn, make, makes, queueRows, rowsIn, trigger, worldOf } from './testing/world.ts';

let store: SqliteStore;
eachWithStore(async (fresh) => {
  store = fresh;
  await makeTables(store);
  await createRecord(masterContext(store), 'Done', { objectId: 'first', action: 'none', of: 'nothing' });
});

const made = () => madeIn(store);
const rows = (triggers: string, ...records: string[]) => rowsIn(store, triggers, records);

describe('order and number', () => {
  test('jobs of a record are done one after the other in their order, those of others side by side', async () => {
    const records = Array.from({ length: 300 }, (_, n) => `r${n % 30}`);
    await queueRows(
      store,
      records.map((objectIdValue, n) => ({ triggers: 't', objectIdValue, source: String(n) })),
    );
    const order = new Map<string, number[]>();
    let [atOnce, most] = [0, 0];
    const perform = async (run: ActionRun) => {
      most = Math.max(most, ++atOnce);
      assert.ok(!busy.has(run.record.objectId));
      busy.add(run.record.objectId);
      await wait(1);
      order.set(run.record.objectId, [...(order.get(run.record.objectId) ?? []), Number(run.cause.source)]);
      await finish(run);
      busy.delete(run.record.objectId);
      atOnce--;
    };
    const busy = new Set<string>();
    await worldOf(store, { triggers: [trigger('t', [makes('a')])], perform }).work();
    // Writing actions share commits with clients and leave room for them (adaptive-concurrency.ts).
    assert.ok(most >= 6 && most <= 64, String(most));
    assert.equal(order.size, 30);
    for (const [record, seen] of order)
      assert.deepEqual(
        seen,
        Array.from({ length: 10 }, (_, n) => Number(record.slice(1)) + 30 * n),
      );
    assert.deepEqual(await left(store), []);
  });

  test('one record with many jobs keeps no other one waiting, and all are done once', async () => {
    await rows('t', ...Array.from({ length: 400 }, () => 'hot'), ...Array.from({ length: 300 }, (_, n) => `cold${n}`), 'hot');
    const ends: string[] = [];
    const perform = async (run: ActionRun) => {
      if (run.record.objectId === 'hot') await wait(1);
      await finish(run);
      ends.push(run.record.objectId);
    };
    await worldOf(store, { triggers: [trigger('t', [makes('a')])], perform }).work();
    assert.equal(ends.length, 701);
    assert.equal(ends.filter((one) => one === 'hot').length, 401);
    assert.ok(ends.slice(0, 600).includes('cold299'));
    assert.deepEqual(await left(store), []);
  });

  test('what is queued while others are at work is done, too', async () => {
    let more = 50;
    const perform = async (run: ActionRun) => {
      await finish(run);
      if (more-- <= 0) return;
      await rows('t', `next${more}`);
      world.runner.wake();
    };
    const world = worldOf(store, { triggers: [trigger('t', [makes('a')])], perform });
    await rows('t', 'first');
    await world.work();
    assert.equal((await logged(store)).length, 2 * 51);
  });

  test('a queue full of others is worked off in bounded memory', async () => {
    await store.bulkTransaction(async (within) => {
      for (let n = 0; n < 20; n++)
        await queueRows(
          within,
          Array.from({ length: 250 }, (_, k) => ({ triggers: 'no', objectIdValue: `r${n}-${k}` })),
        );
    });
    await rows('t', 'last');
    const triggers = [trigger('no', []), trigger('t', [makes('a')])];
    const fires = async (_: unknown, { id }: { id: string }) => id === 't';
    const began = performance.now();
    await worldOf(store, { triggers, fires }).work();
    assert.deepEqual(await logged(store), ['t - last ok', 't a last ok']);
    assert.deepEqual(await left(store), []);
    assert.ok(performance.now() - began < 10_000);
  });
});

test('what will pass is tried again, and its record waits while others go on', async () => {
  await rows('t', 'x', 'x', 'y');
  let failures = 1;
  const perform = async (run: ActionRun) => {
    if (run.record.objectId === 'x' && failures-- > 0) throw serviceError('unavailable');
    await make(run);
  };
  const began = Date.now();
  await worldOf(store, { triggers: [trigger('t', [makes('a')])], perform }).work();
  assert.deepEqual(await made(), ['a y', 'a x', 'a x']);
  assert.ok(Date.now() - began >= 1_000);
  assert.equal((await logged(store)).length, 6);
});

test('what is closed begins nothing more, and waits for the step under way', async () => {
  await rows('t', ...Array.from({ length: 100 }, (_, n) => `r${n % 6}`));
  let begun = 0;
  let ended = 0;
  const perform = async (run: ActionRun) => {
    begun++;
    await wait(200);
    await finish(run);
    ended++;
  };
  const world = worldOf(store, { triggers: [trigger('t', [makes('a'), makes('b')])], perform });
  world.runner.wake();
  while (begun < 6) await wait(1);
  await world.runner.close(5_000);
  assert.equal(begun, 6);
  assert.equal(ended, 6);
  assert.equal(world.held(), 0);
  assert.equal((await left(store)).length, 100);
  await worldOf(store, { triggers: [trigger('t', [makes('a'), makes('b')])], perform: make }).work();
  assert.equal((await logged(store)).length, 300);
});
