import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { SqliteStore } from '../../storage/sqlite/store.ts';
import { eachWithStore } from '../../storage/sqlite/testing/stores.ts';
import { logRow } from '../model/trigger-log.ts';
import { queueJob } from '../queue/index.ts';
import type { RetryableJob, RetryableWork } from '../queue/retryable-jobs.ts';
import { makeTables } from '../schedule/testing/tables.ts';
import { left, logged, queueRows, trigger, worldOf } from './testing/world.ts';

let store: SqliteStore;
eachWithStore(async (fresh) => {
  store = fresh;
  await makeTables(store);
});

async function queue(kind: 'mail' | 'code', count = 1, more: { dueAt?: number } = {}): Promise<void> {
  const about = {
    triggerId: 't',
    event: 'update',
    className: 'Things',
    objectId: 'x',
    owner: store.cluster.processId,
    at: Date.now(),
  } as const;
  const cause = { triggerId: 't', level: 2, source: 's', chain: 'c' };
  const state = (n: number) => ({ n, trigger: { actionId: 'call' } });
  await store.write({
    plan: (schema) => ({
      changes: [],
      mutations: Array.from({ length: count }, (_, n) =>
        queueJob(schema, { kind, state: state(n), cause, ...about, ...more }),
      ).flat(),
    }),
  });
}

test('a job is tried until it succeeds, with the pauses it asks for; then its row is gone', async () => {
  await queue('mail');
  const seen: unknown[] = [];
  const mail: RetryableWork = async (_, { attempts, cause, state, id }) => {
    seen.push([attempts, cause, state.n]);
    const row = {
      id: `${id.slice(0, 9)}${attempts}`,
      at: 1,
      triggerId: 't',
      actionId: 'm',
      event: 'update',
      objectId: 'x',
    } as const;
    const steps = (schema: Parameters<RetryableJob['done']>[0]) =>
      logRow(schema, { ...row, data: null, error: String(attempts) });
    return attempts < 2 ? { kind: 'again', delayMs: 30, steps } : { kind: 'done', steps };
  };
  const world = worldOf(store, { later: { mail } });
  let due = await world.work();
  const began = Date.now();
  while (due !== null) {
    assert.ok(due > performance.now() - 10 && due <= performance.now() + 31);
    assert.equal(world.held(), 0);
    await wait(Math.max(0, due - performance.now()) + 2);
    due = await world.work();
  }
  assert.ok(Date.now() - began >= 30);
  const cause = { triggerId: 't', level: 2, source: 's', chain: 'c' };
  assert.deepEqual(seen, [
    [0, cause, 0],
    [1, cause, 0],
    [2, cause, 0],
  ]);
  assert.deepEqual(await logged(store), ['t m x 0', 't m x 1', 't m x 2']);
  assert.deepEqual(await left(store), []);
});

test('some at a time, none in the way of writes; those that end in a commit of their own need no other', async () => {
  await queue('mail', 30);
  await queue('mail', 150, { dueAt: Date.now() + 3_600_000 });
  await queueRows(store, [{ triggers: 't', objectIdValue: 'x' }]);
  let [atOnce, most, done] = [0, 0, 0];
  const mail: RetryableWork = async ({ store: of }, job) => {
    most = Math.max(most, ++atOnce);
    await wait(5);
    atOnce--;
    done++;
    await of.write({ plan: (schema) => ({ changes: [], mutations: job.done(schema) }) });
    return { kind: 'done', committed: true };
  };
  const due = await worldOf(store, { later: { mail }, triggers: [trigger('t', [])] }).work();
  assert.equal(done, 30);
  assert.equal(most, 3);
  assert.ok(due !== null && due > performance.now() + 3_000_000);
  assert.equal((await left(store)).length, 150);
  assert.deepEqual(await logged(store), ['t - x ok']);
});

test('a call that was under way when its process ended counts as tried, and a row says so; not for ever', async () => {
  await queue('code');
  const attempts: number[] = [];
  const dying: RetryableWork = async (_, job) => {
    attempts.push(job.attempts);
    return new Promise(() => {});
  };
  for (let n = 1; n <= 6; n++) {
    worldOf(store, { later: { code: dying } }).runner.wake();
    while (attempts.length < n) await wait(2);
  }
  assert.deepEqual(attempts, [0, 1, 2, 3, 4, 5]);
  await worldOf(store, { later: { code: dying } }).work();
  const again = 't call x The process ended while this action ran; it is run again.';
  const end = 't call x The process ended each time while this action ran; it is not run again.';
  assert.deepEqual(await logged(store), [...Array.from({ length: 5 }, () => again), end]);
  assert.deepEqual(await left(store), []);
});

test('a kind whose jobs hang keeps no other waiting', async () => {
  await queue('mail', 130);
  await queue('code', 20);
  let [atOnce, most, done] = [0, 0, 0];
  const code: RetryableWork = async () => {
    most = Math.max(most, ++atOnce);
    await wait(5);
    atOnce--;
    done++;
    return { kind: 'done' };
  };
  let hanging = 0;
  const mail: RetryableWork = () => {
    hanging++;
    return new Promise(() => {});
  };
  const { runner } = worldOf(store, { later: { code, mail } });
  runner.wake();
  for (const end = Date.now() + 5_000; done < 20 && Date.now() < end; ) await wait(5);
  assert.deepEqual([done, most, hanging], [20, 8, 3]);
  await runner.close(10);
});

test('after a shared fault the others of the kind wait; then one is tried, and all when it succeeds', async () => {
  await queue('mail', 40);
  let [isAway, atOnce] = [true, 0];
  const tried: number[] = [];
  const which: unknown[] = [];
  const mail: RetryableWork = async (_, { state }) => {
    which.push(state.n);
    tried.push(++atOnce);
    // Concurrently, however slow the machine is: the first end of a fault starts no other.
    if (isAway) while (tried.length < 3) await wait(2);
    await wait(5);
    atOnce--;
    return isAway ? { kind: 'again', delayMs: 0, isShared: true } : { kind: 'done' };
  };
  const world = worldOf(store, { later: { mail } });
  const due = await world.work();
  assert.deepEqual(tried, [1, 2, 3]);
  assert.ok(due !== null && due > performance.now() + 1_000 && due <= performance.now() + 2_000);
  assert.equal((await left(store)).length, 40);
  isAway = false;
  await wait(due - performance.now() + 2);
  await world.work();
  assert.deepEqual([tried.length, tried[3], Math.max(...tried)], [43, 1, 3]);
  // In turns.
  assert.deepEqual([which[3], which.slice(40).toSorted()], [3, [0, 1, 2]]);
  assert.deepEqual(await left(store), []);
});

test('what is cut at the end stays as it was, and is not touched after it', async () => {
  await queue('mail', 2);
  const ends: (() => void)[] = [];
  const mail: RetryableWork = () => new Promise((resolve) => ends.push(() => resolve({ kind: 'again', delayMs: 0 })));
  const rows = await left(store);
  const { runner } = worldOf(store, { later: { mail } });
  runner.wake();
  while (ends.length < 2) await wait(2);
  const closed = runner.close(100);
  ends[0]?.();
  await closed;
  const version = store.tableVersion('_TriggerQueue');
  ends[1]?.();
  await wait(20);
  assert.equal(store.tableVersion('_TriggerQueue'), version);
  assert.deepEqual(await left(store), rows);
});

test('a fault is tried again after a minute; one that asks to give up is gone', async () => {
  await queue('code');
  await queue('mail');
  const code: RetryableWork = async () => {
    throw new Error('no');
  };
  const due = await worldOf(store, { later: { code, mail: async () => ({ kind: 'failed' }) } }).work();
  assert.ok(due !== null && due > performance.now() + 50_000 && due <= performance.now() + 60_001);
  const [row, ...others] = await left(store);
  assert.deepEqual(others, []);
  assert.deepEqual([row?.kind, row?.attempts, row?.flags], ['code', 1, undefined]);
});
