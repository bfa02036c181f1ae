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

/** Returns the store as an engine that does not notice all writes of other processes. */
function withPolls(of: SqliteStore): SqliteStore {
  const cluster = { ...of.cluster, noticesAllWrites: false };
  const get = (_: SqliteStore, name: keyof SqliteStore) => {
    const value = name === 'cluster' ? cluster : of[name];
    return typeof value === 'function' ? value.bind(of) : value;
  };
  return new Proxy(of, { get: get as ProxyHandler<SqliteStore>['get'] } as ProxyHandler<SqliteStore>);
}

function workerOf(of: SqliteStore): SystemWorker {
  const system = { appId: 'app', name: 'System', store: of, hold() {}, release() {} } as unknown as System;
  const noted = { atWork() {}, jobsDue() {}, schedulesDue() {}, clock: new ClockWatch(() => {}) };
  return new SystemWorker(system, servicesOf({}), new LiveProcesses(), noted);
}

test('a queue in which nothing is found is looked at less and less often, and a new row ends that', async ({ mock }) => {
  let clock = 0;
  mock.method(performance, 'now', () => clock);
  const worker = workerOf(withPolls(store));
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

test('a queue whose writes are all noticed is not looked at until one is', async ({ mock }) => {
  let clock = 0;
  mock.method(performance, 'now', () => clock);
  const worker = workerOf(store);
  assert.equal(worker.mayHaveNews.jobs, true);
  await worker.adopt();
  clock += 24 * 3_600_000;
  assert.equal(worker.mayHaveNews.jobs, false);
  await queueRows(store, [{ triggers: 't', objectIdValue: 'x', dueAt: Date.now() + 3_600_000 }]);
  assert.equal(worker.mayHaveNews.jobs, true);
  await worker.adopt();
  await queueRows(store, [{ triggers: 't', objectIdValue: 'y', dueAt: Date.now() + 3_600_000 }]);
  await worker.adopt();
  // Too soon for another search, which stays due.
  assert.equal(worker.mayHaveNews.jobs, true);
  clock += 3_000;
  await worker.adopt();
  assert.equal(worker.mayHaveNews.jobs, false);
  await worker.close(0);
});
