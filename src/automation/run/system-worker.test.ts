import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SqliteStore } from '../../storage/sqlite/store.ts';
import { eachWithStore } from '../../storage/sqlite/testing/stores.ts';
import type { System } from '../../systems/index.ts';
import { LiveProcesses } from '../queue/live-processes.ts';
import { makeTables } from '../schedule/testing/tables.ts';
import { ClockWatch } from './clock-watch.ts';
import { SystemWorker } from './system-worker.ts';
import { queueRows, servicesOf } from './testing/world.ts';

let store: SqliteStore;
eachWithStore(async (fresh) => {
  store = fresh;
  await makeTables(store);
});

test('a queue in which nothing is found is looked at less and less often, and a new row ends that', async ({ mock }) => {
  let clock = 0;
  mock.method(performance, 'now', () => clock);
  const system = { appId: 'app', name: 'System', store, hold() {}, release() {} } as unknown as System;
  const noted = { atWork() {}, jobsDue() {}, schedulesDue() {}, clock: new ClockWatch(() => {}) };
  const worker = new SystemWorker(system, servicesOf({}), new LiveProcesses(), noted);
  /** Returns the seconds until there may be news. */
  const pause = () => {
    const since = clock;
    while (!worker.mayHaveNews.jobs) clock += 1_000;
    return (clock - since) / 1_000;
  };
  const pauses: number[] = [];
  for (let n = 0; n < 7; n++) {
    await worker.adopt();
    pauses.push(pause());
  }
  assert.deepEqual(pauses, [4, 7, 13, 25, 31, 31, 31]);
  await worker.adopt();
  await queueRows(store, [{ triggers: 't', objectIdValue: 'x', dueAt: Date.now() + 3_600_000 }]);
  assert.equal(pause(), 0);
  await worker.adopt();
  assert.equal(pause(), 4);
  await worker.close(0);
});
