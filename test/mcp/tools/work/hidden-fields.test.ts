/** Fields of activities that a role hides are left out, and the calendar works without them. Reference: agents.md#answers. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { date, type Json, pointer } from '../../../support/records.ts';
import { newRole, signUp } from '../../../support/users.ts';
import { byUser, type Person } from '../callers.ts';
import { onEachEngine } from '../engines.ts';
import { permit } from '../tables.ts';

onEachEngine('hidden fields of activities', (tools) => {
  const { create, call } = tools;
  let rules: Json;
  let reader: Person;
  let taken = '';

  before(async () => {
    rules = (await call('GET', '/platform/schemas/Activities')).body.classLevelPermissions;
    const { name } = await newRole(tools);
    await permit(tools, 'Activities', {
      ...rules,
      protectedFields: { ...rules.protectedFields, [`role:${name}`]: ['AllDay', 'Cancelled'] },
    });
    reader = await byUser(tools, ['Sales', name]);
    taken = await activity('08:00', '09:00');
  });
  after(async () => {
    await permit(tools, 'Activities', rules);
  });

  const at = (time: string) => `2031-03-04T${time}:00.000Z`;
  const activity = (start: string, end: string, more: object = {}) =>
    create('Activities', {
      Name: 'Taken',
      StartTime: date(at(start)),
      EndTime: date(at(end)),
      OwnerId: pointer('_User', reader.id),
      ...more,
    });
  const range = () => ({ from: at('00:00'), to: at('23:00'), ownerIds: [reader.id] });
  const expectedHint =
    'Which activities are cancelled, and which take the whole day is hidden from you: they count as any other.';

  test('Get-Calendar shows all, and says that the cancelled ones are among them', async () => {
    const cancelled = await activity('10:00', '11:00', { Cancelled: true });
    const { results, hint } = await reader.use('Get-Calendar', range());
    assert.deepEqual(
      results.map((row: Json) => row.objectId),
      [taken, cancelled],
    );
    assert.equal(hint, expectedHint);
    const slots = await reader.use('Get-Calendar', { ...range(), freeSlots: true });
    assert.equal(slots.hint, expectedHint);
    assert.equal((await tools.use('Get-Calendar', range())).hint, undefined);
  });

  test('Schedule-Activity looks for conflicts', async () => {
    const meeting = { name: 'Meeting', startTime: at('08:30'), endTime: at('08:45'), ownerId: reader.id };
    await reader.refused('Schedule-Activity', meeting, 107, /the owner is busy: /);
    const made = await reader.use('Schedule-Activity', { ...meeting, allowConflict: true });
    assert.deepEqual(
      made.conflicts.map((row: Json) => row.objectId),
      [taken],
    );
    assert.deepEqual([made.hidden, made.hint], [undefined, expectedHint]);
    const free = (await signUp(tools, { name: 'Tal' })).id;
    assert.deepEqual((await reader.use('Schedule-Activity', { ...meeting, ownerId: free })).conflicts, []);
  });
});
