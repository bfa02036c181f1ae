/** Meetings and tasks. */
import assert from 'node:assert/strict';
import type { Json } from './connection.ts';
import { type Day, known } from './day.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Books the first free hour of the next week, is refused the same hour for another meeting, and books the next free one. */
export async function meet({ use, refused, run, ownerId, customerId }: Day): Promise<string> {
  const tomorrow = Math.ceil((Date.now() + DAY) / HOUR) * HOUR;
  const [from, to] = [tomorrow, tomorrow + 7 * DAY].map((at) => new Date(at).toISOString());
  const firstFree = async () => {
    const { results } = await use('Get-Calendar', { from, to, ownerIds: [known(ownerId)], freeSlots: true });
    const slot = results[0].free.find(({ start, end }: Json) => Date.parse(end) - Date.parse(start) >= HOUR);
    return { startTime: slot.start, endTime: new Date(Date.parse(slot.start) + HOUR).toISOString() };
  };

  const time = await firstFree();
  const first = await use('Schedule-Activity', { name: `Demo ${run}`, accountId: customerId, ownerId, ...time });
  assert.deepEqual(first.conflicts, []);
  const told = await refused('Schedule-Activity', { name: `Call ${run}`, ownerId, ...time });
  assert.match(told, new RegExp(`busy.*Demo ${run}.*Get-Calendar`));
  const other = await firstFree();
  assert.ok(other.startTime >= time.endTime, `${other.startTime} is taken`);
  await use('Schedule-Activity', { name: `Call ${run}`, ownerId, ...other });
  return `at ${time.startTime}; the second one was refused that hour and is at ${other.startTime}`;
}

export async function work({ use, run, ownerId, customerId }: Day): Promise<string> {
  const names = [`Send the quote ${run}`, `Call back ${run}`];
  const created: string[] = [];
  for (const name of names) {
    const task = await use('Create-Task', {
      name,
      date: new Date(Date.now() + HOUR).toISOString(),
      accountId: customerId,
      ownerId,
    });
    created.push(task.objectId);
  }
  const open = async () => {
    const { results } = await use('Get-Tasks', { accountId: customerId, due: 'week' });
    return results.map(({ objectId }: Json) => objectId).sort();
  };
  assert.deepEqual(await open(), created.toSorted());
  const { status } = await use('Complete-Task', { objectId: created[0], comment: 'Sent by mail.' });
  assert.deepEqual(await open(), created.slice(1));
  return `${created.length} tasks, one of them ${status.Name}`;
}
