import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { createRecord } from '../../records/index.ts';
import { masterContext } from '../../records/testing/context.ts';
import type { SqliteStore } from '../../storage/sqlite/store.ts';
import { eachWithStore } from '../../storage/sqlite/testing/stores.ts';
import type { ActionRun } from '../model/action.ts';
import { change, makeTables, queued, remove } from '../schedule/testing/tables.ts';
import { calls, left, logged, madeIn, make, makes, queueRows, rowsIn, trigger, worldOf } from './testing/world.ts';

let store: SqliteStore;
eachWithStore(async (fresh) => {
  store = fresh;
  await makeTables(store);
  await createRecord(masterContext(store), 'Done', { objectId: 'first', action: 'none', of: 'nothing' });
});

const made = () => madeIn(store);
/** Waits until so many records exist, and a few milliseconds longer for records that must not be created. */
const soonMade = async (count: number) => {
  while ((await made()).length < count) await wait(5);
  await wait(100);
};
const rows = (triggers: string, ...records: string[]) => rowsIn(store, triggers, records);

describe('a process that ends', () => {
  test('goes on where it was: what is done is not done again', async () => {
    await rows('t1,t2', 'x');
    const triggers = [trigger('t1', [makes('a1'), makes('a2')]), trigger('t2', [makes('a3')])];
    let dies: string | null = 'a2';
    const perform = async (run: ActionRun) => {
      if (run.action.id === dies) await new Promise(() => {});
      await make(run);
    };
    const first = worldOf(store, { triggers, perform });
    first.runner.wake();
    while ((await made()).length < 1) await wait(5);
    await wait(20);
    dies = 'a3';
    const second = worldOf(store, { triggers, perform });
    second.runner.wake();
    while ((await made()).length < 2) await wait(5);
    dies = null;
    await worldOf(store, { triggers, perform }).work();
    assert.deepEqual(await made(), ['a1 x', 'a2 x', 'a3 x']);
    assert.deepEqual(await logged(store), ['t1 - x ok', 't1 a1 x ok', 't1 a2 x ok', 't2 - x ok', 't2 a3 x ok']);
  });

  test('a function that was running is called again with the same id, and a row says so; not for ever', async () => {
    await rows('t', 'x');
    const triggers = [trigger('t', [calls('call'), makes('a')])];
    const attempts: [string, number][] = [];
    const dying = async ({ runId, attempt }: ActionRun) => {
      attempts.push([runId, attempt]);
      await new Promise(() => {});
    };
    for (let n = 1; n <= 5; n++) {
      worldOf(store, { triggers, perform: dying }).runner.wake();
      while (attempts.length < n) await wait(2);
    }
    assert.deepEqual(
      attempts.map(([, attempt]) => attempt),
      [1, 2, 3, 4, 5],
    );
    assert.equal(new Set(attempts.map(([id]) => id)).size, 1);
    await worldOf(store, { triggers }).work();
    const again = 't call x The process ended while this action ran; it is run again.';
    const end = 't call x The process ended each time while this action ran; it is not run again.';
    assert.deepEqual(await logged(store), ['t - x ok', again, again, again, again, end, 't a x ok']);
  });

  test('a job that another process has taken over is let go of without a trace', async () => {
    await rows('t', 'x', 'x', 'y');
    const perform = async (run: ActionRun) => {
      const rowsOfX = (await queued(store, 'write')).filter(({ objectIdValue }) => objectIdValue === 'x');
      if (run.record.objectId === 'x')
        for (const { objectId } of rowsOfX) await change(store, '_TriggerQueue', objectId as string, { owner: 'other' });
      await make(run);
    };
    await worldOf(store, { triggers: [trigger('t', [makes('a')])], perform }).work();
    assert.deepEqual(await made(), ['a y']);
    assert.deepEqual(await logged(store), ['t - y ok', 't a y ok']);
    assert.equal((await left(store)).length, 2);
  });

  test('an earlier job of the record that is another process’s is waited for', async () => {
    await queueRows(store, [{ objectId: 'foreign001', triggers: 't', objectIdValue: 'x', owner: 'other' }]);
    await rows('t', 'x', 'y');
    const world = worldOf(store, { triggers: [trigger('t', [makes('a')])], perform: make });
    const ended = world.work();
    await soonMade(1);
    assert.deepEqual(await made(), ['a y']);
    await remove(store, '_TriggerQueue', 'foreign001');
    await ended;
    assert.deepEqual(await made(), ['a y', 'a x']);
  });
});

test('a queue that begins with much of another process keeps only its records waiting', async () => {
  const foreign = Array.from({ length: 120 }, (_, n) => ({ objectId: `foreign${String(n).padStart(3, '0')}`, owner: 'other' }));
  await queueRows(
    store,
    foreign.map((one) => ({ triggers: 't', objectIdValue: 'x', ...one })),
  );
  await rows('t', 'x', 'y', 'x', 'z');
  const world = worldOf(store, { triggers: [trigger('t', [makes('a')])], perform: make });
  const ended = world.work();
  await soonMade(2);
  assert.deepEqual((await made()).toSorted(), ['a y', 'a z']);
  for (const { objectId } of foreign) await remove(store, '_TriggerQueue', objectId);
  await ended;
  assert.deepEqual((await made()).slice(2), ['a x', 'a x']);
});

test('a job that waits for another process is looked for although an earlier one of its record ends meanwhile', async () => {
  await rows('t', 'x');
  await queueRows(store, [{ objectId: 'foreign001', triggers: 't', objectIdValue: 'x', owner: 'other' }]);
  await rows('t', 'x');
  const world = worldOf(store, {
    triggers: [trigger('t', [makes('a')])],
    perform: async (run) => {
      await wait(30);
      await make(run);
    },
  });
  const ended = world.work();
  await soonMade(1);
  assert.deepEqual(await made(), ['a x']);
  await remove(store, '_TriggerQueue', 'foreign001');
  await ended;
  assert.deepEqual(await made(), ['a x', 'a x']);
});
