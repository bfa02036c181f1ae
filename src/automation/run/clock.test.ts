import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { HOUR_MS } from '../../kernel/time.ts';
import { ClockWatch } from './clock-watch.ts';
import { TimerQueue } from './timer-queue.ts';

async function until(what: () => boolean): Promise<void> {
  for (const end = performance.now() + 5_000; !what(); ) {
    assert.ok(performance.now() < end, 'it did not come about');
    await wait(10);
  }
}

test('what is due by a clock that is set forward comes within seconds', async () => {
  let wall = 1_000_000;
  const due: string[] = [];
  const timers = new TimerQueue(
    (appId) => due.push(appId),
    () => wall,
  );
  const keepsAwake = setInterval(() => {}, 1_000);
  timers.set('one', wall + HOUR_MS);
  timers.set('two', wall + 2 * HOUR_MS);
  await wait(20);
  assert.deepEqual(due, []);
  wall += HOUR_MS;
  await until(() => due.length > 0);
  assert.deepEqual(due, ['one']);
  timers.fireAll();
  assert.deepEqual(due, ['one', 'two']);
  wall += 2 * HOUR_MS;
  await wait(1_100);
  assert.deepEqual(due, ['one', 'two']);
  timers.close();
  clearInterval(keepsAwake);
});

test('a clock that is set forward or back is noticed once, by any reader; corrections are no jump', () => {
  let [wall, steady] = [1_000_000, 0];
  let jumped = 0;
  const watch = new ClockWatch(
    () => jumped++,
    () => wall,
    () => steady,
  );
  const pass = (ms: number, by = ms) => {
    steady += ms;
    wall += by;
    return watch.jumps;
  };
  assert.deepEqual([pass(1_000), pass(1_000, 1_050), pass(1_000, 950), jumped], [0, 0, 0, 0]);
  assert.equal(pass(1_000, 1_000 - HOUR_MS), 1);
  assert.deepEqual([pass(1_000), pass(500), jumped], [1, 1, 1]);
  assert.equal(pass(1_000, 24 * HOUR_MS), 2);
  // A machine that slept.
  assert.equal(pass(10, 60_000), 3);
  assert.deepEqual([pass(1_000), jumped], [3, 3]);
});
