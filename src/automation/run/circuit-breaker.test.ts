import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CircuitBreaker } from './circuit-breaker.ts';

test('a kind waits for longer each time, half a minute at the most; until it succeeds', () => {
  const breaker = new CircuitBreaker();
  assert.deepEqual([breaker.maxConcurrent('mail', 3, 0), breaker.nextProbe(0)], [3, null]);
  let now = 0;
  for (const pause of [2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
    breaker.fail('mail', now);
    // A concurrent attempt.
    breaker.fail('mail', now + 1);
    assert.deepEqual([breaker.maxConcurrent('mail', 3, now + pause - 1), breaker.nextProbe(now)], [0, now + pause]);
    assert.deepEqual([breaker.maxConcurrent('code', 8, now), breaker.maxConcurrent('mail', 3, now + pause)], [8, 1]);
    now += pause;
  }
  breaker.succeed('mail');
  assert.deepEqual([breaker.maxConcurrent('mail', 3, now - 1), breaker.nextProbe(0)], [3, null]);
});
