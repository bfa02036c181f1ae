/** Times without a zone are in the system's time zone, and ranges include their last day. Reference: agents.md#arguments. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { date, type Json, pointer, useStore } from '../../support/records.ts';
import { sampledEngines } from '../../support/service.ts';
import { signUp } from '../../support/users.ts';
import { byKey } from './callers.ts';
import { useFlag } from './restored.ts';

for (const engine of sampledEngines())
  describe(`local times on ${engine}`, () => {
    const store = useStore(engine);
    const { use, refused } = byKey(store);
    const DAY = 86_400_000;
    /** Returns the current day in the system's zone, which is UTC+3 all year. */
    const dayOf = (at: number): string => new Date(at + 3 * 3_600_000).toISOString().slice(0, 10);

    useFlag(store, 'TimeZone', 'Europe/Istanbul');

    test('Create-Task and Schedule-Activity store and answer instants', async () => {
      const cases = [
        ['2026-02-01T10:00', '2026-02-01T07:00:00.000Z'],
        ['2026-02-01T10:00:00Z', '2026-02-01T10:00:00.000Z'],
        ['2026-02-01T10:00:00+02:00', '2026-02-01T08:00:00.000Z'],
        ['2026-02-01', '2026-01-31T21:00:00.000Z'],
      ] as const;
      for (const [sent, stored] of cases) {
        const made = await use('Create-Task', { name: 'x', date: sent });
        assert.deepEqual(made.Date, date(stored), sent);
        assert.deepEqual((await store.read('Tasks', made.objectId)).Date, date(stored), sent);
      }
      const made = await use('Schedule-Activity', { name: 'x', startTime: '2026-02-01T10:00', endTime: '2026-02-01T08:30:00Z' });
      assert.deepEqual([made.StartTime, made.EndTime], [date('2026-02-01T07:00:00.000Z'), date('2026-02-01T08:30:00.000Z')]);
      const stored = await store.read('Activities', made.objectId);
      assert.deepEqual([stored.StartTime, stored.EndTime], [made.StartTime, made.EndTime]);
      const early = { name: 'x', startTime: '2026-02-01T10:00', endTime: '2026-02-01T06:59:00Z' };
      await refused('Schedule-Activity', early, 107, /endTime must be after startTime/);
      for (const wrong of ['2026-02-30', 'noon', '+012026-01-01', '2026-02-01T25:00'])
        await refused('Create-Task', { name: 'x', date: wrong }, 107, /date must be a day or a time in ISO 8601/);
    });

    test('Get-Calendar: days are whole, the last one too', async () => {
      const OwnerId = pointer('_User', (await signUp(store)).id);
      const activity = (Name: string, start: string) =>
        store.create('Activities', { Name, StartTime: date(start), EndTime: date(start), OwnerId });
      await activity('before', '2026-03-09T20:59:00.000Z');
      await activity('first', '2026-03-09T21:00:00.000Z');
      await activity('last', '2026-03-10T20:59:00.000Z');
      await activity('after', '2026-03-10T21:00:00.000Z');
      const ask = (from: string, to: string) => use('Get-Calendar', { from, to, ownerIds: [OwnerId.objectId] });
      const names = ({ results }: Json) => results.map(({ Name }: Json) => Name);
      const day = await ask('2026-03-10', '2026-03-10');
      assert.deepEqual(names(day), ['first', 'last']);
      assert.deepEqual([day.from, day.to], ['2026-03-09T21:00:00.000Z', '2026-03-10T21:00:00.000Z']);
      assert.deepEqual(names(await ask('2026-03-10T00:00', '2026-03-11T00:00')), ['first', 'last']);
      assert.deepEqual(names(await ask('2026-03-10', '2026-03-10T23:59')), ['first']);
      assert.equal(names(await ask('2026-03-01', '2026-05-31')).length, 4);
      await refused('Get-Calendar', { from: '2026-03-01', to: '2026-06-01' }, 107, /at most 92 days/);
      await refused('Get-Calendar', { from: '2026-03-02', to: '2026-03-01' }, 107, /to must be after from/);
    });

    test('Get-Pipeline-Summary: a month from its first day to its last is the group of that month', async () => {
      for (const [Name, at] of [
        ['january', '2020-01-31T20:59:59.999Z'],
        ['first', '2020-01-31T21:00:00.000Z'],
        ['last', '2020-02-29T20:59:59.999Z'],
        ['march', '2020-02-29T21:00:00.000Z'],
      ] as const)
        await store.create('Sales', { Name, Total: 1, ClosingDate: date(at) });
      const reported = await use('Get-Pipeline-Summary', { from: '2020-02-01', to: '2020-02-29', groupBy: 'month' });
      assert.deepEqual(
        reported.results.map(({ month, count }: Json) => [month, count]),
        [['2020-02', 2]],
      );
      assert.deepEqual([reported.from, reported.to], ['2020-01-31T21:00:00.000Z', '2020-02-29T21:00:00.000Z']);
      const upTo = await use('Get-Pipeline-Summary', { from: '2020-02-01', to: '2020-02-29T23:59:59.999' });
      assert.equal(upTo.count, 1);
    });

    test('Get-Messages and Get-Sales-Documents: the days of a range are whole', async () => {
      const times = [
        '2026-03-09T20:59:59.999Z',
        '2026-03-09T21:00:00.000Z',
        '2026-03-10T20:59:59.999Z',
        '2026-03-10T21:00:00.000Z',
      ];
      for (const [number, at] of times.entries()) {
        await store.create('CallRecords', { time: date(at), duration: number });
        await store.create('AccountingHeaders', { Number: number, DocumentDate: date(at) });
      }
      const day = { from: '2026-03-10', to: '2026-03-10' };
      const calls = await use('Get-Messages', day);
      assert.deepEqual(
        calls.results.map(({ duration }: Json) => duration),
        [2, 1],
      );
      assert.deepEqual([calls.from, calls.to], ['2026-03-09T21:00:00.000Z', '2026-03-10T21:00:00.000Z']);
      const documents = await use('Get-Sales-Documents', day);
      assert.deepEqual(
        documents.results.map(({ number }: Json) => number),
        [2, 1],
      );
      // A range that ends with a time ends at that moment.
      const upTo = await use('Get-Messages', { from: '2026-03-10T00:00', to: '2026-03-11T00:00' });
      assert.equal(upTo.results.length, 3);
    });

    test('what is logged today is found by the day alone', async () => {
      const start = Date.now();
      const campaign = await store.create('Campaigns', { Name: 'c' });
      await store.create('CampaignSentLog', { CampaignId: pointer('Campaigns', campaign) });
      const [first, last] = [dayOf(start), dayOf(Date.now())];
      const range = { from: first, to: last };
      assert.equal((await use('Get-Campaign-Stats', range)).results[0].sent, 1);
      assert.ok((await use('Get-Request-Log', { ...range, limit: 1 })).results.length === 1);
      assert.ok((await use('Get-Recent-Changes', { since: first, limit: 1 })).results.length === 1);
      const [yesterday, tomorrow] = [dayOf(start - DAY), dayOf(Date.now() + DAY)];
      assert.equal((await use('Get-Campaign-Stats', { to: yesterday })).results.length, 0);
      assert.equal((await use('Get-Campaign-Stats', { from: tomorrow })).results.length, 0);
      assert.equal((await use('Get-Recent-Changes', { since: tomorrow })).results.length, 0);
      assert.deepEqual((await use('Get-Trigger-Logs', { from: tomorrow })).results, []);
      assert.deepEqual((await use('Get-Request-Log', { to: yesterday })).results, []);
      // The largest range that years of four digits allow.
      const ages = { from: '0000-01-01', to: '9999-12-31' };
      for (const name of ['Get-Request-Log', 'Get-Trigger-Logs', 'Get-Messages', 'Get-Sales-Documents', 'Get-Campaign-Stats'])
        assert.equal((await use(name, { ...ages, limit: 1 })).to, '9999-12-31T21:00:00.000Z');
    });

    test('Update-Record: ifUpdatedAt is the time that was answered', async () => {
      const id = await store.create('Accounts', { Name: 'a' });
      const { updatedAt } = await store.read('Accounts', id);
      const ask = (ifUpdatedAt: string) => ({ table: 'Accounts', objectId: id, data: { Name: 'b' }, ifUpdatedAt });
      await refused('Update-Record', ask('2020-01-01'), 409);
      await use('Update-Record', ask(updatedAt.replace('Z', '')));
    });
  });
