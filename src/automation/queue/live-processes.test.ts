import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Store } from '../../storage/port.ts';
import { LiveProcesses } from './live-processes.ts';

/** Processes that a test controls, with a clock of its own. */
function world() {
  const told = { now: 0, alive: ['me'], looks: 0 };
  const store = {
    cluster: {
      processes: async () => {
        told.looks++;
        return new Set(told.alive);
      },
    },
  } as unknown as Store;
  return { told, store, processes: new LiveProcesses(() => told.now) };
}

test('what was seen counts for a second, and many ask once', async () => {
  const { told, store, processes } = world();
  assert.deepEqual(await Promise.all([processes.hasOthers(store), processes.hasOthers(store)]), [false, false]);
  told.alive = ['me', 'other'];
  told.now = 999;
  assert.equal(await processes.hasOthers(store), false);
  told.now = 1_000;
  assert.equal(await processes.hasOthers(store), true);
  assert.equal(told.looks, 2);
});

test('a process is gone that is missing at two looks a second apart; one that comes back is not', async () => {
  const { told, store, processes } = world();
  told.alive = ['me', 'other'];
  assert.deepEqual(await processes.ended(store, ['other', 'dead', 'short']), []);
  told.now = 999;
  assert.deepEqual(await processes.ended(store, ['dead']), []);
  told.now = 1_000;
  told.alive = ['me', 'short'];
  assert.deepEqual(await processes.ended(store, ['other', 'dead', 'short']), ['dead']);
  assert.equal(processes.losses, 1);
  told.now = 2_000;
  told.alive = ['me'];
  assert.deepEqual(await processes.ended(store, ['other', 'dead', 'short']), ['other', 'dead']);
  assert.equal(processes.losses, 2);
});
