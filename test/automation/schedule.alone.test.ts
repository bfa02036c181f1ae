/**
 * Triggers by the clock (triggers.md#schedules: cron, one run for every record
 * that matches).
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { makeData } from '../support/data.ts';
import { type Json, type Store, storeOf, unique } from '../support/records.ts';
import { engines, type Service, startService } from '../support/service.ts';
import { useGroundStore } from './ground.ts';

const SECOND = 1_000;
const BOUNDED = 'Only the first 1,000 records were run; the rest follow at the next run.';

/** A table of records, a table where each run leaves a mark for its record, and triggers that do so. */
interface Clockwork {
  readonly table: string;
  readonly marks: string;
  /** Defines a trigger that marks each record; answers its id. */
  trigger(cron: string, more?: Json): Promise<string>;
  /** How many marks each record has, by objectId. */
  marked(): Promise<Record<string, number>>;
}

async function clockwork(store: Store): Promise<Clockwork> {
  const table = await store.table({ size: 'Number' });
  const marks = await store.table({ of: 'String', size: 'Number' });
  const action = { type: 'create-object', actionData: { table: marks, fields: { of: '{{objectId}}', size: '{{size}}' } } };
  return {
    table,
    marks,
    trigger: (cron, { schedule = {}, ...more } = {}) =>
      store.create('_Trigger', {
        ...{ Name: unique('clock'), table, events: ['schedule'], actions: [action] },
        ...{ schedule: { cron, timezone: 'UTC', ...schedule }, ...more },
      }),
    async marked() {
      const counts: Record<string, number> = {};
      for (const { of } of await store.all(marks)) counts[of] = (counts[of] ?? 0) + 1;
      return counts;
    },
  };
}

async function addRecords(store: Store, table: string, count: number): Promise<string[]> {
  const requests = Array.from({ length: count }, (_, size) => ({
    ...{ method: 'POST', path: `/platform/classes/${table}` },
    body: { size },
  }));
  const answer = await store.call('POST', '/platform/batch', { body: { requests } });
  return answer.body.map(({ success }: Json) => success.objectId);
}

const logOf = async ({ call }: Pick<Store, 'call'>, triggerId: string): Promise<Json[]> =>
  (await call('GET', '/platform/classes/_syslogTriggers', { query: { where: { triggerId }, limit: 10_000 } })).body.results;

async function until(seen: () => Promise<boolean>, within = 15 * SECOND): Promise<void> {
  const deadline = Date.now() + within;
  while (!(await seen())) {
    assert.ok(Date.now() < deadline, 'it does not come to be');
    await wait(100);
  }
}

const total = (counts: Record<string, number>): number => Object.values(counts).reduce((sum, count) => sum + count, 0);

/** Cron of every minute at the seconds that come so long after the next whole one. */
function secondsFromNow(...after: number[]): string {
  const next = Math.ceil(Date.now() / SECOND);
  return `${after.map((seconds) => (next + seconds) % 60).join()} * * * * *`;
}

for (const engine of engines)
  describe(`schedules: ${engine}`, { concurrency: true }, () => {
    const store = useGroundStore(engine);

    test('each second, for each record that matches, with two rows in the log; switched off it ends', async () => {
      const { table, trigger, marked } = await clockwork(store);
      const ids = await addRecords(store, table, 5);
      const before = Date.now();
      const id = await trigger('* * * * * *', { criteria: { size: { $gte: 2 } } });
      const definition = await store.read('_Trigger', id);
      await until(async () => total(await marked()) >= 6);
      const { nextRun, lastRun, updatedAt, ...later } = await store.read('_Trigger', id);
      assert.ok(Date.parse(lastRun.iso) > before);
      assert.ok(Date.parse(nextRun.iso) > Date.parse(lastRun.iso) && Date.parse(nextRun.iso) % SECOND === 0);
      assert.equal(updatedAt, definition.updatedAt);
      assert.ok(!Object.hasOwn(later, '_cursor'));
      const schema = (await store.call('GET', `/platform/schemas/${table}`)).body;
      assert.deepEqual(
        Object.keys(schema.triggers[0])
          .filter((name) => /Run$/.test(name))
          .toSorted(),
        ['lastRun', 'nextRun'],
      );

      await store.update('_Trigger', id, { Active: false });
      assert.equal((await store.read('_Trigger', id)).nextRun, undefined);
      // What was under way is soon done; then nothing comes for longer than from one run to the next.
      let [counts, log] = [await marked(), await logOf(store, id)];
      for (const look of Array(5).keys()) {
        await wait(1_500);
        const [now, then] = [
          [await marked(), (await logOf(store, id)).length],
          [counts, log.length],
        ];
        if (isDeepStrictEqual(now, then)) break;
        assert.ok(look < 4, 'runs go on');
        [counts, log] = [await marked(), await logOf(store, id)];
      }
      assert.deepEqual(Object.keys(counts).toSorted(), ids.slice(2).toSorted());
      const runs = Math.max(...Object.values(counts));
      assert.ok(runs >= 2 && runs <= (Date.now() - before) / SECOND + 1);
      // The last run may have been under way when the trigger was switched off: then rows with an error say so of what was left.
      assert.ok(Object.values(counts).every((count) => count >= runs - 1));
      const fired = log.filter(({ error }) => error === undefined);
      assert.equal(fired.length, 2 * total(counts));
      assert.equal(fired.filter(({ actionId }) => actionId === undefined).length, total(counts));
      for (const { event, objectIdValue } of fired) assert.ok(event === 'schedule' && ids.includes(objectIdValue));
    });

    test('the time zone decides when', async () => {
      const { trigger } = await clockwork(store);
      for (const timezone of ['UTC', 'Asia/Jerusalem', 'America/New_York']) {
        const id = await trigger('30 8 * * *', { schedule: { timezone } });
        const due = new Date((await store.read('_Trigger', id)).nextRun.iso);
        const clock = new Intl.DateTimeFormat('en-GB', { timeZone: timezone, timeStyle: 'medium' }).format(due);
        assert.equal(clock, '08:30:00');
        assert.ok(due.getTime() > Date.now() && due.getTime() < Date.now() + 25 * 3_600 * SECOND);
      }
    });

    test('1,500 records: 1,000 at the first run, with a row of the log, and the rest at the next', async () => {
      const { table, trigger, marked } = await clockwork(store);
      const ids = (await addRecords(store, table, 1_500)).toSorted();
      const id = await trigger(secondsFromNow(1, 5));
      const bounded = async () => (await logOf(store, id)).filter(({ error }) => error === JSON.stringify(BOUNDED));
      await until(async () => (await bounded()).length > 0);
      const [row] = await bounded();
      assert.deepEqual([row.event, row.actionId, row.objectIdValue || undefined], ['schedule', undefined, undefined]);
      await until(async () => total(await marked()) >= 1_500, 90 * SECOND);
      await wait(500);
      const counts = await marked();
      assert.deepEqual(Object.keys(counts).toSorted(), ids);
      assert.equal(total(counts), 1_500);
      assert.equal((await bounded()).length, 1);
      const actions = (await logOf(store, id)).filter(({ actionId }) => actionId !== undefined);
      assert.equal(actions.length, 1_500);
    });

    test('runs that were missed while the service was down are made up once, without a request', async () => {
      const data = await makeData(engine);
      let service: Service = await startService({ engine, ...data });
      const at = storeOf(() => service);
      const { table, trigger, marked } = await clockwork(at);
      const ids = await addRecords(at, table, 3);
      const id = await trigger(secondsFromNow(3, 4, 5));
      const due = Date.parse((await at.read('_Trigger', id)).nextRun.iso);
      await service.stop();
      assert.ok(Date.now() < due, 'it was stopped in time');
      await wait(due + 2 * SECOND + 200 - Date.now());
      service = await startService({ engine, ...data });
      try {
        await wait(SECOND);
        await until(async () => total(await marked()) >= 3);
        await wait(SECOND);
        assert.deepEqual(await marked(), Object.fromEntries(ids.map((one) => [one, 1])));
        const { nextRun, lastRun } = await at.read('_Trigger', id);
        assert.ok(Date.parse(nextRun.iso) > Date.parse(lastRun.iso));
      } finally {
        await service.stop();
        await data.remove();
      }
    });
  });
