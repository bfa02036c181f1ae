import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { serviceError } from '../errors/fail.ts';
import { DailyVisits } from './daily-visits.ts';
import type { System } from './system.ts';

const MINUTE_MS = 60_000;
const all = Array.from({ length: 200 }, (_, n) => ({ appId: `s${n}`, place: `p${n}` }));

let visits: DailyVisits | undefined;
let visited: string[];
let claimed: string[];
let closed: typeof all;
/** Whether another process has the lease of a place. */
let isTaken: (place: string) => boolean;
beforeEach(() => {
  [visited, claimed, closed, isTaken] = [[], [], all, () => false];
  mock.timers.enable({ apis: ['setInterval', 'Date'], now: 1_000_000 * MINUTE_MS });
});
afterEach(async () => {
  await visits?.close();
  mock.timers.reset();
});

const systems = {
  closed: async () => closed,
  cluster: {
    processId: 'me',
    processes: async () => new Set(['me']),
    takeLease: async (place: string) => claimed.push(place) > 0 && !isTaken(place),
  },
  visit: async <T>(appId: string, work: (system: System) => Promise<T>) => work({ appId } as System),
};
function begin(work: (appId: string) => Promise<void> = async (appId) => void visited.push(appId)): void {
  visits = new DailyVisits(
    systems as never,
    ({ appId }) => work(appId),
    (error) => assert.fail(String(error)),
  );
}
const pass = async (minutes: number) => {
  for (let n = 0; n < minutes; n++) {
    mock.timers.tick(MINUTE_MS);
    for (let each = 0; each < 20; each++) await turn();
  }
};
const sorted = (names: readonly string[]) => names.toSorted();

test('each closed system is visited once a day, a few at a time', async () => {
  begin();
  let most = 0;
  for (let minute = 0; minute < 24 * 60; minute++) {
    const before = visited.length;
    await pass(1);
    most = Math.max(most, visited.length - before);
  }
  assert.deepEqual(sorted(visited), sorted(all.map(({ appId }) => appId)));
  assert.ok(most <= 5, `${most} at a time`);
});

test('it is claimed before it is opened, and left to the process that has claimed it', async () => {
  isTaken = (place) => place !== 'p7';
  begin();
  await pass(24 * 60);
  assert.deepEqual([visited, claimed.length], [['s7'], all.length]);
});

test('an open system is left to the hourly work', async () => {
  closed = all.slice(0, 3);
  begin();
  await pass(24 * 60);
  assert.deepEqual(sorted(visited), ['s0', 's1', 's2']);
});

test('after a pause of days each is visited once; the clock set back visits none', async () => {
  begin();
  mock.timers.setTime((1_000_000 + 3 * 24 * 60) * MINUTE_MS);
  await pass(1);
  for (let each = 0; each < 2_000; each++) await turn();
  assert.deepEqual(sorted(visited.splice(0)), sorted(all.map(({ appId }) => appId)));
  mock.timers.setTime(1_000_000 * MINUTE_MS);
  await pass(1);
  assert.deepEqual(visited, []);
});

test('a store that is away is nothing to be reported, and holds up no other', async () => {
  closed = all.slice(0, 2);
  begin(async (appId) => {
    visited.push(appId);
    throw serviceError('unavailable');
  });
  await pass(24 * 60);
  assert.deepEqual(sorted(visited), ['s0', 's1']);
});
