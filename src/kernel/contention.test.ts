import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CONTENTION_LIMIT_MS, Contention } from './contention.ts';

test('work that others are in the way of is over after its time, however often it was tried', async (t) => {
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  const contention = new Contention();
  for (; nowMs <= CONTENTION_LIMIT_MS; nowMs += 10) {
    assert.equal(contention.isOver, false);
    await contention.next(0);
  }
  assert.equal(contention.isOver, true);
  assert.equal(contention.attempt, 1 + 1001);
});

test('work whose attempts take longer than that has three', async (t) => {
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  const contention = new Contention();
  const over: boolean[] = [];
  for (let n = 0; n < 4; n++) {
    nowMs += 2 * CONTENTION_LIMIT_MS;
    over.push(contention.isOver);
    await contention.next(0);
  }
  assert.deepEqual(over, [false, false, true, true]);
});

test('pauses grow with the attempts, up to the longest', async (t) => {
  const waited: number[] = [];
  t.mock.method(Math, 'random', () => 0.999);
  const contention = new Contention();
  for (let n = 0; n < 4; n++) {
    const from = performance.now();
    await contention.next(50, 100);
    waited.push(performance.now() - from);
  }
  const [first = 0, ...others] = waited;
  assert.ok(first >= 45, `${first}`);
  for (const each of others) assert.ok(each >= 90, `${each}`);
});
