import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MINUTE_MS } from '../../kernel/time.ts';
import type { Store } from '../../storage/port.ts';
import type { SqliteStore } from '../../storage/sqlite/store.ts';
import { eachWithStore } from '../../storage/sqlite/testing/stores.ts';
import { expand, runDue } from './index.ts';
import { addThings, change, define, logOf, makeTables, onlyRun, queued, remove, runsOf, timesOf } from './testing/tables.ts';

/** A full minute. */
const noon = Date.UTC(2026, 5, 1, 12);

let store: SqliteStore;
const system = () => ({ appId: 'app', name: 'System', store: store as Store });
eachWithStore(async (fresh) => {
  store = fresh;
  await makeTables(store);
});

/** Returns the object with other members. */
function withOwn<T extends object>(one: T, own: Partial<T>): T {
  return new Proxy(one, {
    get(target, key) {
      const value = Reflect.get(Object.hasOwn(own, key) ? own : target, key, target);
      return typeof value === 'function' && !Object.hasOwn(own, key) ? value.bind(target) : value;
    },
  });
}

/** A store that runs something before each write. */
const writingAfter = (one: Store, first: () => Promise<void>): Store =>
  withOwn(one, {
    write: (async (...given: Parameters<Store['write']>) => {
      await first();
      return one.write(...given);
    }) as Store['write'],
  });

const jobs = () => runsOf(store);
const theJob = () => onlyRun(store);
const log = () => logOf(store);

describe('what is due', () => {
  test('a run that is due is queued once, and the next is the first one after now: missed ones are made up together', async () => {
    await define(store, 'trigger001', { nextRun: noon - 60 * MINUTE_MS });
    assert.equal(await runDue(system(), noon + 1), noon + MINUTE_MS);
    const times = await timesOf(store, 'trigger001');
    assert.deepEqual(times, { nextRun: noon + MINUTE_MS, lastRun: noon + 1, cursor: null, updatedAt: 0 });
    const [row, ...others] = await queued(store, 'schedule');
    assert.deepEqual(others, []);
    const { triggers, objectClass, event, owner } = row ?? {};
    assert.deepEqual([triggers, objectClass, event, owner], ['trigger001', 'Things', 'schedule', store.cluster.processId]);
    assert.equal(await runDue(system(), noon + 2), noon + MINUTE_MS);
    assert.equal((await jobs()).length, 1);
  });

  test('the earliest of all is reported; null where nothing is scheduled', async () => {
    assert.equal(await runDue(system(), noon), null);
    await define(store, 'trigger001', { nextRun: noon + 9 });
    await define(store, 'trigger002', { nextRun: noon + 5 });
    await define(store, 'trigger003', { nextRun: noon + 7 });
    await define(store, 'other00001', { events: '["create"]', schedule: null });
    assert.equal(await runDue(system(), noon), noon + 5);
    assert.deepEqual(await jobs(), []);
  });

  test('at the very moment it is due', async () => {
    await define(store, 'trigger001', { nextRun: noon });
    assert.equal(await runDue(system(), noon), noon + MINUTE_MS);
    assert.equal((await jobs()).length, 1);
  });

  test('a definition that does not know its next run is given one, and does not run yet', async () => {
    await define(store, 'trigger001');
    assert.equal(await runDue(system(), noon + 1), noon + MINUTE_MS);
    assert.equal((await timesOf(store, 'trigger001')).nextRun, noon + MINUTE_MS);
    assert.deepEqual(await jobs(), []);
  });

  test('after the clock was set back the next run comes at its time by the new clock; times that come again run again', async () => {
    await define(store, 'trigger001', { nextRun: noon + MINUTE_MS, lastRun: noon });
    await define(store, 'trigger002', { nextRun: noon + 60 * MINUTE_MS, schedule: '{"cron":"0 * * * *","timezone":"UTC"}' });
    const then = noon - 60 * MINUTE_MS + 1_000;
    // Without a reported clock change.
    assert.equal(await runDue(system(), then), noon + MINUTE_MS);
    assert.equal(await runDue(system(), then, 0), then - 1_000 + MINUTE_MS);
    assert.deepEqual(await jobs(), []);
    assert.equal((await timesOf(store, 'trigger001')).nextRun, then - 1_000 + MINUTE_MS);
    assert.equal((await timesOf(store, 'trigger002')).nextRun, noon);
    await runDue(system(), then + MINUTE_MS);
    assert.deepEqual((await jobs()).flatMap(({ triggers }) => triggers), ['trigger001']); // biome-ignore format: one comparison
  });

  test('clocks of processes differ: only what lies further ahead than that is of another time', async () => {
    await define(store, 'trigger001', { nextRun: noon + MINUTE_MS });
    // Another process, whose clock is ahead, has queued the run of noon.
    assert.equal(await runDue(system(), noon - 5_000, MINUTE_MS), noon + MINUTE_MS);
    assert.equal(await runDue(system(), noon - 2 * MINUTE_MS, MINUTE_MS), noon - MINUTE_MS);
    assert.deepEqual(await jobs(), []);
  });

  test('after the clock was set forward a day the run that was missed is made up once, and the next comes at its time', async () => {
    await define(store, 'trigger001', { nextRun: noon + MINUTE_MS });
    const then = noon + 24 * 60 * MINUTE_MS + 5_000;
    assert.equal(await runDue(system(), then, 0), then - 5_000 + MINUTE_MS);
    assert.equal((await jobs()).length, 1);
    assert.equal(await runDue(system(), then + 1_000, 0), then - 5_000 + MINUTE_MS);
    assert.equal((await jobs()).length, 1);
  });

  test('summer time that ends sets no clock back: a run of the hour that comes twice stands', async () => {
    const schedule = '{"cron":"30 1 * * *","timezone":"Asia/Jerusalem"}';
    // 25 October 2026, 02:00 → 01:00.
    const first = Date.UTC(2026, 9, 24, 22, 30);
    await define(store, 'trigger001', { nextRun: first, schedule });
    const next = await runDue(system(), first, 0);
    for (let now = first; now < first + 3 * 60 * MINUTE_MS; now += 10 * MINUTE_MS)
      assert.equal(await runDue(system(), now, 0), next, new Date(now).toISOString());
    assert.equal((await jobs()).length, 1);
  });

  test('who writes a definition while it is looked at has the last word', async () => {
    await define(store, 'trigger001');
    const written = { events: '["create"]', schedule: null, updatedAt: 5 };
    let writes = 0;
    const slow = writingAfter(store, async () => {
      if (writes++ === 0) await change(store, '_Trigger', 'trigger001', written);
    });
    await runDue({ ...system(), store: slow }, noon);
    assert.equal(writes, 1);
    assert.equal((await timesOf(store, 'trigger001')).nextRun, null);
  });

  test('a definition that was switched on since all were read is not taken for one that cannot be read', async () => {
    await define(store, 'trigger001', { Active: false });
    let reads = 0;
    const find: Store['reader']['find'] = async (query) => {
      // All have been read; now the definition changes before its runs are recorded.
      if (++reads === 3) await change(store, '_Trigger', 'trigger001', { Active: true, nextRun: noon + MINUTE_MS, updatedAt: 5 });
      return store.reader.find(query);
    };
    const stale = withOwn(store, { reader: withOwn(store.reader, { find }) });
    assert.equal(await runDue({ ...system(), store: stale }, noon), noon + MINUTE_MS);
    assert.equal(reads, 3);
    assert.deepEqual([(await timesOf(store, 'trigger001')).nextRun, await log()], [noon + MINUTE_MS, []]);
  });

  test('the time zone decides', async () => {
    await define(store, 'trigger001', { schedule: '{"cron":"0 8 * * *","timezone":"Asia/Jerusalem"}' });
    assert.equal(await runDue(system(), noon), Date.UTC(2026, 5, 2, 5));
  });

  test('what is switched off does not run', async () => {
    await define(store, 'trigger001', { nextRun: noon - 1, Active: false });
    assert.equal(await runDue(system(), noon), null);
    assert.deepEqual(await jobs(), []);
  });

  test('a run that has not ended takes those that come meanwhile', async () => {
    await define(store, 'trigger001', { nextRun: noon });
    await runDue(system(), noon);
    assert.equal(await runDue(system(), noon + MINUTE_MS), noon + 2 * MINUTE_MS);
    assert.equal((await jobs()).length, 1);
    assert.equal((await timesOf(store, 'trigger001')).lastRun, noon);
    await expand(system(), await theJob());
    await runDue(system(), noon + 2 * MINUTE_MS);
    assert.equal((await jobs()).length, 1);
  });

  test('a run is left out while records of the one before are at work', async () => {
    await addThings(store, 3);
    await define(store, 'trigger001', { nextRun: noon });
    await define(store, 'trigger002', { nextRun: noon + MINUTE_MS });
    await runDue(system(), noon);
    await expand(system(), await theJob());
    assert.equal(await runDue(system(), noon + MINUTE_MS), noon + 2 * MINUTE_MS);
    assert.deepEqual((await theJob()).triggers, ['trigger002']);
    assert.equal((await timesOf(store, 'trigger001')).lastRun, noon);
    const rows = await queued(store, 'write');
    assert.equal(rows.length, 3);
    for (const { objectId } of rows) await remove(store, '_TriggerQueue', objectId as string);
    await runDue(system(), noon + 2 * MINUTE_MS);
    assert.equal((await timesOf(store, 'trigger001')).lastRun, noon + 2 * MINUTE_MS);
  });

  for (const [what, values] of [
    ['schedule', { schedule: '{"cron":"whenever","timezone":"UTC"}' }],
    ['time zone', { schedule: '{"cron":"* * * * *","timezone":"Mars/Olympus"}' }],
    ['actions', { actions: '[{"type":"unheard-of"}]' }],
  ] as const)
    test(`a definition that cannot be read any longer has one row in the log: ${what}`, async () => {
      await define(store, 'trigger001', { nextRun: noon - 1, ...values });
      await define(store, 'trigger002', { nextRun: noon });
      assert.equal(await runDue(system(), noon), noon + MINUTE_MS);
      await runDue(system(), noon + 1);
      assert.deepEqual(
        (await log()).map(({ triggerId, event, error }) => [triggerId, event, JSON.parse(error as string)]),
        [['trigger001', 'schedule', 'The definition of the trigger cannot be read: it no longer runs.']],
      );
      assert.equal((await timesOf(store, 'trigger001')).nextRun, null);
      assert.equal((await theJob()).triggers[0], 'trigger002');
    });
});
