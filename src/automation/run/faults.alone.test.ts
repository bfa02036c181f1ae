import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { serviceError } from '../../errors/fail.ts';
import { createRecord } from '../../records/index.ts';
import { masterContext } from '../../records/testing/context.ts';
import type { SqliteStore } from '../../storage/sqlite/store.ts';
import { eachWithStore } from '../../storage/sqlite/testing/stores.ts';
import { type Fate, FaultyStore } from '../../storage/testing/faulty-store.ts';
import type { ActionRun } from '../model/action.ts';
import { queueJob } from '../queue/index.ts';
import type { RetryableWork } from '../queue/retryable-jobs.ts';
import { makeTables } from '../schedule/testing/tables.ts';
import { calls, left, logged, madeIn, make, makes, queueRows, rowsIn, trigger, worldOf } from './testing/world.ts';

let store: SqliteStore;
eachWithStore(async (fresh) => {
  store = fresh;
  await makeTables(store);
  await createRecord(masterContext(store), 'Done', { objectId: 'first', action: 'none', of: 'nothing' });
});

const fates: readonly Fate[] = ['undone', 'done', 'late'];
/** Reproducible pseudo-random numbers. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

async function queueCalls(count: number): Promise<void> {
  const cause = { triggerId: 't', level: 2, source: 's', chain: 'c' };
  const about = { triggerId: 't', event: 'update', className: 'Things', objectId: 'x', owner: store.cluster.processId } as const;
  await store.write({
    plan: (schema) => ({
      changes: [],
      mutations: Array.from({ length: count }, (_, n) =>
        queueJob(schema, { kind: 'code', state: { n }, cause, ...about, at: Date.now() }),
      ).flat(),
    }),
  });
}

describe('a store that goes and comes', () => {
  for (const seed of [1, 2, 3])
    test(`each action is done once, in the order of its record, whatever becomes of commits (seed ${seed})`, async () => {
      const random = randomFrom(seed);
      const faulty = new FaultyStore(store, { fate: () => fates[Math.floor(random() * 3)] as Fate, late: 30 });
      const triggers = [trigger('t1', [makes('a'), makes('b'), calls('c')]), trigger('t2', [makes('d')])];
      const records = Array.from({ length: 120 }, (_, n) => `r${n % 40}`);
      await rowsIn(store, 't1,t2', records);
      await queueCalls(20);
      const called: string[] = [];
      const perform = async (run: ActionRun) => {
        await wait(random() * 4);
        if (run.action.type !== 'server-side-code') return make(run);
        called.push(run.record.objectId);
      };
      const later: unknown[] = [];
      const code: RetryableWork = async (_, { state, attempts }) => {
        await wait(random() * 20);
        later.push([state.n, attempts]);
        return { kind: 'done' };
      };
      const { runner } = worldOf(faulty.store, { triggers, perform, later: { code } });
      runner.wake();
      const deadline = performance.now() + 30_000;
      for (let outages = 0; outages < 25; outages++) {
        await wait(5 + random() * 40);
        faulty.leave();
        await wait(5 + random() * 60);
        faulty.back();
      }
      while (runner.isAtWork && performance.now() < deadline) await wait(20);
      await faulty.lateWritesDone();
      assert.deepEqual(await left(store), []);
      const byRecord = Map.groupBy(await madeIn(store), (made) => made.slice(2));
      assert.equal(byRecord.size, 40);
      for (const [record, made] of byRecord) {
        const whole = ['a', 'b', 'd'].map((action) => `${action} ${record}`);
        assert.deepEqual(made, [...whole, ...whole, ...whole]);
      }
      assert.deepEqual(called.toSorted(), records.toSorted());
      // Two triggers fire, with four actions each; all exactly once.
      const log = await logged(store);
      assert.equal(log.length, 120 * 6);
      assert.ok(log.every((row) => row.endsWith(' ok')));
      assert.deepEqual(later.toSorted(), Array.from({ length: 20 }, (_, n) => [n, 0]).toSorted());
    });

  test('while it is away nothing asks it; when it is back all goes on at once, however long that took', async () => {
    const faulty = new FaultyStore(store, { fate: () => 'undone' });
    await rowsIn(
      store,
      't',
      Array.from({ length: 300 }, (_, n) => `r${n}`),
    );
    const world = worldOf(faulty.store, { triggers: [trigger('t', [makes('a')])], perform: make });
    faulty.leave();
    world.runner.wake();
    await wait(1_500);
    assert.ok(faulty.callCount <= 2, String(faulty.callCount));
    faulty.back();
    const began = performance.now();
    while (world.runner.isAtWork) await wait(5);
    assert.ok(performance.now() - began < 2_000);
    assert.equal((await madeIn(store)).length, 300);
    assert.equal(world.held(), 0);
  });

  test('it goes in the middle of all the work: each that was under way asks once', async () => {
    const faulty = new FaultyStore(store, { fate: () => 'undone' });
    await rowsIn(
      store,
      't',
      Array.from({ length: 400 }, (_, n) => `r${n}`),
    );
    let begun = 0;
    const perform = async (run: ActionRun) => {
      if (++begun === 50) faulty.leave();
      await make(run);
    };
    const world = worldOf(faulty.store, { triggers: [trigger('t', [makes('a')])], perform });
    world.runner.wake();
    while (begun < 50) await wait(1);
    await wait(1_200);
    assert.ok(faulty.callCount <= 2 * 64, String(faulty.callCount));
    faulty.back();
    while (world.runner.isAtWork) await wait(5);
    assert.equal((await madeIn(store)).length, 400);
    assert.deepEqual(await left(store), []);
  });

  test('what takes too long while it is away is no fault of the condition', async () => {
    const faulty = new FaultyStore(store, { fate: () => 'undone' });
    await rowsIn(store, 't', ['x']);
    let looks = 0;
    const fires = async () => {
      if (++looks > 8) return true;
      faulty.leave();
      setTimeout(() => faulty.back(), 20);
      throw serviceError('timeout');
    };
    const world = worldOf(faulty.store, { triggers: [trigger('t', [makes('a')])], fires, perform: make });
    world.runner.wake();
    while (world.runner.isAtWork) await wait(5);
    assert.deepEqual(await logged(store), ['t - x ok', 't a x ok']);
  });

  test('a call is not made again while its end cannot be noted, nor given up', async () => {
    const faulty = new FaultyStore(store, { fate: () => 'undone' });
    await rowsIn(store, 't', ['x']);
    let called = 0;
    const perform = async () => {
      called++;
      faulty.leave();
    };
    const world = worldOf(faulty.store, { triggers: [trigger('t', [calls('c')])], perform });
    world.runner.wake();
    while (called === 0) await wait(2);
    for (let n = 0; n < 4; n++) {
      await wait(60);
      faulty.back();
      faulty.leave();
    }
    await wait(30);
    faulty.back();
    while (world.runner.isAtWork) await wait(5);
    assert.equal(called, 1);
    assert.deepEqual(await logged(store), ['t - x ok', 't c x ok']);
    assert.deepEqual(await left(store), []);
  });

  test('a call whose function meets the outage is made again, however often, and its attempts are reported', async () => {
    const faulty = new FaultyStore(store, { fate: () => 'undone' });
    await rowsIn(store, 't', ['x']);
    const attempts: number[] = [];
    const perform = async (run: ActionRun) => {
      attempts.push(run.attempt);
      if (attempts.length > 7) return;
      faulty.leave();
      setTimeout(() => faulty.back(), 10);
      throw serviceError('unavailable');
    };
    const world = worldOf(faulty.store, { triggers: [trigger('t', [calls('c')])], perform });
    world.runner.wake();
    while (world.runner.isAtWork) await wait(5);
    assert.deepEqual(attempts, [1, 2, 3, 4, 5, 6, 7, 8]);
    assert.deepEqual(await logged(store), ['t - x ok', 't c x ok']);
  });

  test('what a queued call met of the store is none of its attempts', async () => {
    const faulty = new FaultyStore(store, { fate: () => 'undone' });
    await queueCalls(1);
    const attempts: number[] = [];
    const code: RetryableWork = async (_, job) => {
      attempts.push(job.attempts);
      if (attempts.length > 3) return { kind: 'done' };
      faulty.leave();
      setTimeout(() => faulty.back(), 10);
      throw serviceError('unavailable');
    };
    const world = worldOf(faulty.store, { later: { code } });
    while ((await left(store)).length > 0) {
      await world.work();
      await wait(5);
    }
    assert.deepEqual(attempts, [0, 0, 0, 0]);
    assert.deepEqual(await logged(store), []);
  });
});

test('a job that was noted by a clock which was ahead is due, and not only when that time comes again', async () => {
  const ahead = Date.now() + 3_600_000;
  const later = { kind: 'code', triggers: 't', state: '{"n":1}' };
  await queueRows(store, [
    { ...later, objectId: 'ahead', createdAt: ahead, dueAt: ahead + 5_000 },
    { ...later, objectId: 'waiting', dueAt: ahead },
  ]);
  const seen: string[] = [];
  const code: RetryableWork = async (_, { id }) => {
    seen.push(id);
    return { kind: 'done' };
  };
  const due = await worldOf(store, { later: { code } }).work();
  assert.deepEqual(seen, ['ahead']);
  assert.ok(due !== null && due > performance.now() + 3_500_000);
});
