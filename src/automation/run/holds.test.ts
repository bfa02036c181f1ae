import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Holds } from './holds.ts';

test('a kind waits for longer each time, half a minute at the most; until it succeeds', () => {
  const holds = new Holds();
  assert.deepEqual([holds.most('mail', 3, 0), holds.end(0)], [3, null]);
  let now = 0;
  for (const pause of [2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
    holds.fail('mail', now);
    // Of those side by side.
    holds.fail('mail', now + 1);
    assert.deepEqual([holds.most('mail', 3, now + pause - 1), holds.end(now)], [0, now + pause]);
    assert.deepEqual([holds.most('code', 8, now), holds.most('mail', 3, now + pause)], [8, 1]);
    now += pause;
  }
  holds.succeed('mail');
  assert.deepEqual([holds.most('mail', 3, now - 1), holds.end(0)], [3, null]);
});
