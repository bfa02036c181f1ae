/** Reference: triggers.md#schedules. `_Trigger` shows `nextRun` and `lastRun`, which the service alone writes. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { assertRefused, type Json } from '../support/records.ts';
import { sampledEngines } from '../support/service.ts';
import { useGroundStore } from './ground.ts';

/** The hour of the clock on a wall, and the minute. */
const wallClock = (iso: string, timeZone: string): string =>
  new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' }).format(new Date(iso));

for (const engine of sampledEngines())
  describe(engine, () => {
    const store = useGroundStore(engine);
    let table = '';
    before(async () => {
      table = await store.table({ Name: 'String' });
    });

    const yearly = { cron: '30 9 1 1 *', timezone: 'UTC' };
    const make = (schedule: object = yearly, more: object = {}) =>
      store.create('_Trigger', { table, events: ['schedule'], schedule, actions: [], ...more });
    const next = async (id: string): Promise<string | undefined> => (await store.read('_Trigger', id)).nextRun?.iso;
    /** When the next 1 January has come to a time of day, in UTC. */
    const newYear = (time: string): string => {
      const years = [0, 1].map((more) => `${new Date().getUTCFullYear() + more}-01-01T${time}.000Z`);
      return years.find((each) => Date.parse(each) > Date.now()) as string;
    };

    test('nextRun is a Date from the start; schedules are kept as they were sent', async () => {
      const id = await make({ cron: ' 30  9 1 1 * ' });
      const row: Json = await store.read('_Trigger', id);
      assert.deepEqual(row.schedule, { cron: ' 30  9 1 1 * ' });
      assert.deepEqual(row.nextRun, { __type: 'Date', iso: newYear('09:30:00') });
      assert.ok(!('lastRun' in row));
    });

    test('6 fields have seconds', async () => {
      const at = await next(await make({ cron: '15 30 9 1 1 *' }));
      assert.equal(at, newYear('09:30:15'));
    });

    for (const [zone, cron, clock] of [
      ['Asia/Jerusalem', '0 9 15 1 *', '09:00'],
      ['Asia/Jerusalem', '0 9 15 7 *', '09:00'],
      ['America/New_York', '45 23 15 7 *', '23:45'],
      ['Asia/Kolkata', '5 4 1 3 *', '04:05'],
    ] as const)
      test(`nextRun is by the clock of the time zone: ${cron} ${zone}`, async () => {
        const at = (await next(await make({ cron, timezone: zone }))) as string;
        assert.equal(wallClock(at, zone), clock);
        assert.ok(Date.parse(at) > Date.now());
      });

    test('summer and winter are an hour apart in Jerusalem', async () => {
      const hours = [];
      for (const month of [1, 7])
        hours.push((await next(await make({ cron: `0 9 15 ${month} *`, timezone: 'Asia/Jerusalem' })))?.slice(11, 13));
      assert.deepEqual(hours, ['07', '06']);
    });

    test('nextRun and lastRun that a client sends are passed over', async () => {
      const sent = { nextRun: { __type: 'Date', iso: '2001-01-01T00:00:00.000Z' }, lastRun: 5, 'nextRun.iso': 1 };
      const id = await make(yearly, sent);
      const first = await store.read('_Trigger', id);
      assert.deepEqual([first.nextRun.iso, 'lastRun' in first], [newYear('09:30:00'), false]);
      await store.update('_Trigger', id, { ...sent, nextRun: null, Name: 'x' });
      const second = await store.read('_Trigger', id);
      assert.deepEqual([second.nextRun, second.Name, 'lastRun' in second], [first.nextRun, 'x', false]);
    });

    test('nextRun follows the definition', async () => {
      const id = await make(yearly);
      await store.update('_Trigger', id, { Active: false });
      assert.equal(await next(id), undefined);
      await store.update('_Trigger', id, { schedule: { cron: '0 8 1 1 *' } });
      assert.equal(await next(id), undefined);
      await store.update('_Trigger', id, { Active: true });
      assert.equal(await next(id), newYear('08:00:00'));
      await store.update('_Trigger', id, { events: ['create'], schedule: { __op: 'Delete' } });
      assert.equal(await next(id), undefined);
      await store.update('_Trigger', id, { events: ['create', 'schedule'], schedule: yearly });
      assert.equal(await next(id), newYear('09:30:00'));
      assert.equal(await next(await make(yearly, { Active: false })), undefined);
    });

    test('what the service notes for itself exists for nobody', async () => {
      const error = 'This user is not allowed to access _cursor on class _Trigger';
      const id = await make(yearly);
      assertRefused(await store.put('_Trigger', id, { _cursor: 'x' }), { code: 119, error });
      assertRefused(await store.post('_Trigger', { table, events: ['create'], actions: [], _cursor: 'x' }), { code: 119, error });
      assert.ok(!('_cursor' in ((await store.fields('_Trigger')) as Json)));
    });
  });
