/** Reference: tools.md#schedule-activity, tools.md#get-calendar. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callTool, keyHeaders } from '../../../support/mcp.ts';
import { date, type Json, pointer } from '../../../support/records.ts';
import { signUp } from '../../../support/users.ts';
import { byUser } from '../callers.ts';
import { onEachEngine } from '../engines.ts';
import { useFlag } from '../restored.ts';

const NO_ID = 'zzzzzzzzzz';

onEachEngine('calendar', (tools) => {
  const { use, refused, create, read, all, update, remove } = tools;
  useFlag(tools, 'TimeZone', 'Asia/Jerusalem');
  const owner = async (): Promise<string> => (await signUp(tools, { name: 'Tal' })).id;
  /** Returns a time on a Monday in winter, when the zone is UTC+2. */
  const at = (time: string) => `2026-01-12T${time}:00Z`;
  const meeting = (ownerId: string, start: string, end: string, more: object = {}) => ({
    name: 'Meeting',
    startTime: at(start),
    endTime: at(end),
    ownerId,
    ...more,
  });
  const activity = (id: string, start: string, end: string, more: object = {}) =>
    create('Activities', {
      Name: 'Taken',
      StartTime: date(start),
      EndTime: date(end),
      OwnerId: pointer('_User', id),
      ...more,
    });

  test('Schedule-Activity: what is stored', async () => {
    const ownerId = await owner();
    const account = await create('Accounts', { Name: 'a' });
    const made = await use('Schedule-Activity', meeting(ownerId, '08:00', '09:00', { accountId: account, location: 'Here' }));
    const stored = await read('Activities', made.objectId);
    assert.deepEqual([stored.Name, stored.Location], ['Meeting', 'Here']);
    assert.deepEqual([stored.StartTime, stored.EndTime], [date('2026-01-12T08:00:00.000Z'), date('2026-01-12T09:00:00.000Z')]);
    assert.deepEqual([stored.AccountId, stored.OwnerId], [pointer('Accounts', account), pointer('_User', ownerId)]);
    assert.deepEqual(made.conflicts, []);
  });

  test('of two meetings that are put in one place of a calendar at once, one is', async () => {
    const ownerId = await owner();
    const args = meeting(ownerId, '08:00', '09:00');
    const schedule = () => callTool(tools.service(), keyHeaders(tools.service()), 'Schedule-Activity', args);
    const answers = await Promise.all([schedule(), schedule(), schedule(), schedule()]);
    assert.equal(answers.filter(({ isError }) => !isError).length, 1);
  });

  test('Schedule-Activity: conflicts are refused with their list, unless they are allowed', async () => {
    const ownerId = await owner();
    const first = await use('Schedule-Activity', meeting(ownerId, '08:00', '09:00'));
    for (const [start, end] of [
      ['07:00', '08:00'],
      ['09:00', '10:00'],
    ] as const)
      await use('Schedule-Activity', meeting(ownerId, start, end));
    const count = (await all('Activities')).length;
    for (const [start, end] of [
      ['08:30', '08:45'],
      ['07:59', '08:01'],
      ['06:00', '12:00'],
      ['08:00', '09:00'],
    ] as const) {
      const { error } = await refused('Schedule-Activity', meeting(ownerId, start, end), 107, /the owner is busy: /);
      assert.ok(error.includes(first.objectId) && error.includes('"Meeting"'), error);
    }
    assert.equal((await all('Activities')).length, count);
    const both = await use('Schedule-Activity', meeting(ownerId, '08:30', '08:45', { allowConflict: true }));
    assert.deepEqual(
      both.conflicts.map((row: Json) => row.objectId),
      [first.objectId],
    );
    await use('Schedule-Activity', meeting(await owner(), '08:00', '09:00'));
  });

  test('Schedule-Activity: cancelled ones are no conflict, those of the whole day are', async () => {
    const ownerId = await owner();
    const id = await activity(ownerId, at('08:00'), at('09:00'), { Cancelled: true });
    await use('Schedule-Activity', meeting(ownerId, '08:00', '09:00'));
    await update('Activities', id, { Cancelled: false });
    await refused('Schedule-Activity', meeting(ownerId, '08:30', '08:40'), 107, /busy/);
    const holiday = await owner();
    // Midnight in the zone.
    await activity(holiday, '2026-01-11T22:00:00.000Z', '2026-01-11T22:00:00.000Z', { AllDay: true });
    await refused('Schedule-Activity', meeting(holiday, '15:00', '16:00'), 107, /busy/);
    await use('Schedule-Activity', { ...meeting(holiday, '22:00', '23:00') });
  });

  test('Schedule-Activity: wrong arguments', async () => {
    const ownerId = await owner();
    const inactive = (await signUp(tools, { active: false })).id;
    const count = (await all('Activities')).length;
    await refused('Schedule-Activity', meeting(ownerId, '09:00', '09:00'), 107, /endTime must be after startTime/);
    await refused('Schedule-Activity', meeting(ownerId, '09:00', '08:00'), 107, /endTime must be after startTime/);
    await refused('Schedule-Activity', { name: 'x', startTime: 'soon', endTime: at('09:00') }, 107, /ISO 8601/);
    await refused('Schedule-Activity', { name: 'x', endTime: at('09:00') }, 107, /startTime is required/);
    await refused('Schedule-Activity', meeting(NO_ID, '08:00', '09:00'), 107, /no such user/);
    await refused('Schedule-Activity', meeting(inactive, '08:00', '09:00'), 107, /not active/);
    await refused('Schedule-Activity', meeting(ownerId, '08:00', '09:00', { accountId: NO_ID }), 101, /^Object not found/);
    assert.equal((await all('Activities')).length, count);
  });

  const week = { from: '2026-02-01T00:00:00Z', to: '2026-02-08T00:00:00Z' };

  test('Get-Calendar: the activities that touch a range, by their start', async () => {
    // A week in which no other suite has activities.
    const quiet = { from: '2032-02-01T00:00:00Z', to: '2032-02-08T00:00:00Z' };
    const [one, other] = [await owner(), await owner()];
    const long = await activity(one, '2032-01-30T08:00:00.000Z', '2032-02-01T08:00:00.000Z');
    const late = await activity(other, '2032-02-07T23:00:00.000Z', '2032-02-08T01:00:00.000Z');
    const open = await create('Activities', {
      Name: 'x',
      StartTime: date('2032-02-02T08:00:00.000Z'),
      OwnerId: pointer('_User', one),
    });
    await activity(one, '2032-02-08T00:00:00.000Z', '2032-02-08T01:00:00.000Z');
    await activity(one, '2032-01-31T00:00:00.000Z', '2032-02-01T00:00:00.000Z');
    await activity(one, '2032-02-03T08:00:00.000Z', '2032-02-03T09:00:00.000Z', { Cancelled: true });
    const ids = async (args: object): Promise<string[]> =>
      (await use('Get-Calendar', { ...quiet, ...args })).results.map((row: Json) => row.objectId);
    assert.deepEqual(await ids({}), [long, open, late]);
    assert.deepEqual(await ids({ ownerIds: [other] }), [late]);
    const { results, timeZone } = await use('Get-Calendar', { ...quiet, ownerIds: [one] });
    assert.deepEqual([results[0].OwnerId.Name, results[0].ACL, timeZone], ['Tal', undefined, 'Asia/Jerusalem']);
    for (const id of [long, late, open]) await remove('Activities', id);
  });

  const span = (start: string, end: string) => ({ start: `${start}:00.000Z`, end: `${end}:00.000Z` });

  test('Get-Calendar: free slots within working hours of the system', async () => {
    const id = await owner();
    await activity(id, '2026-02-01T09:00:00.000Z', '2026-02-01T10:00:00.000Z');
    await activity(id, '2026-02-01T09:30:00.000Z', '2026-02-01T11:00:00.000Z');
    await activity(id, '2026-02-01T11:10:00.000Z', '2026-02-01T11:20:00.000Z');
    const days = { from: '2026-02-01T00:00:00Z', to: '2026-02-02T00:00:00Z', ownerIds: [id], freeSlots: true };
    const reported = await use('Get-Calendar', days);
    assert.deepEqual([reported.workingHours, reported.timeZone], ['WorkingHours', 'Asia/Jerusalem']);
    // Sunday, 9:00 to 17:00 local time at UTC+2. The ten minutes between two meetings are too short for a slot.
    const free = [span('2026-02-01T07:00', '2026-02-01T09:00'), span('2026-02-01T11:20', '2026-02-01T15:00')];
    assert.deepEqual(reported.results, [{ ownerId: id, Name: 'Tal', free }]);
    const part = await use('Get-Calendar', { ...days, from: '2026-02-01T08:00:00Z', to: '2026-02-01T08:30:00Z' });
    assert.deepEqual(part.results[0].free, [span('2026-02-01T08:00', '2026-02-01T08:30')]);
    const weekend = await use('Get-Calendar', { ...days, from: '2026-02-06T00:00:00Z', to: '2026-02-08T00:00:00Z' });
    assert.deepEqual(weekend.results[0].free, [span('2026-02-06T07:00', '2026-02-06T11:00')]);
  });

  test('Get-Calendar: holidays, short days and breaks', async () => {
    const id = await owner();
    const days = (from: string, to: string) => ({ from, to, ownerIds: [id], freeSlots: true });
    const purim = await use('Get-Calendar', days('2027-03-23T00:00:00Z', '2027-03-23T20:00:00Z'));
    assert.deepEqual(purim.results[0].free, [span('2027-03-23T07:00', '2027-03-23T11:00')]);
    const off = await use('Get-Calendar', days('2027-04-22T00:00:00Z', '2027-04-22T20:00:00Z'));
    assert.deepEqual(off.results[0].free, []);
    const rows = await all('WorkingHours');
    const tuesday = rows.find(({ Weekday }: Json) => Weekday === 3).objectId;
    await update('WorkingHours', tuesday, { BreakStart: '12:00', BreakEnd: '13:00' });
    const broken = await use('Get-Calendar', days('2026-02-03T00:00:00Z', '2026-02-03T20:00:00Z'));
    assert.deepEqual(broken.results[0].free, [
      span('2026-02-03T07:00', '2026-02-03T10:00'),
      span('2026-02-03T11:00', '2026-02-03T15:00'),
    ]);
    await update('WorkingHours', tuesday, { BreakStart: null, BreakEnd: null });
    for (const { objectId } of rows) await update('WorkingHours', objectId, { Active: false });
    const usual = await use('Get-Calendar', days('2026-02-05T00:00:00Z', '2026-02-07T00:00:00Z'));
    assert.match(usual.workingHours, /^Sunday to Thursday 09:00-17:00/);
    assert.deepEqual(usual.results[0].free, [span('2026-02-05T07:00', '2026-02-05T15:00')]);
    for (const { objectId } of rows) await update('WorkingHours', objectId, { Active: true });
  });

  test('Get-Calendar: wrong arguments', async () => {
    await refused('Get-Calendar', { from: '2026-02-01' }, 107, /to is required/);
    await refused('Get-Calendar', { from: '2026-02-02', to: '2026-02-01' }, 107, /to must be after from/);
    await refused('Get-Calendar', { from: '2026-02-01', to: '2026-06-01' }, 107, /at most 92 days/);
    await refused('Get-Calendar', { ...week, freeSlots: true }, 107, /freeSlots takes ownerIds/);
    await refused('Get-Calendar', { ...week, freeSlots: true, ownerIds: [NO_ID] }, 107, /there is no such user/);
  });

  test('a user plans own activities, and is held to the roles', async () => {
    const user = await byUser(tools, ['Sales']);
    const times = { startTime: '2026-02-05T08:00:00Z', endTime: '2026-02-05T09:00:00Z' };
    const { objectId } = await user.use('Schedule-Activity', { name: 'mine', ...times });
    const stored = await read('Activities', objectId);
    assert.deepEqual([stored.OwnerId, stored.createdBy], [pointer('_User', user.id), pointer('_User', user.id)]);
    await user.refused('Schedule-Activity', { name: 'again', ...times }, 107, /busy/);
    const [{ ownerId, free }] = (await user.use('Get-Calendar', { from: '2026-02-05', to: '2026-02-05', freeSlots: true }))
      .results;
    assert.deepEqual([ownerId, free.length], [user.id, 2]);
    const creator = await byUser(tools, ['Sales'], ['mcp:create']);
    const { error } = await creator.refused('Schedule-Activity', { name: 'x', ...times, ownerId: user.id }, 107, /busy/);
    assert.ok(!error.includes('mine'), error);
    const reader = await byUser(tools, ['ReadOnly']);
    await reader.refused(
      'Schedule-Activity',
      { name: 'x', ...times },
      119,
      /^Permission denied for action create on class Activities/,
    );
    assert.equal((await reader.use('Get-Calendar', { ...week, ownerIds: [user.id] })).results.length, 1);
    const nobody = await byUser(tools, []);
    await nobody.refused('Get-Calendar', week, 119, /^Permission denied for action find on class Activities/);
  });
});
