import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CircuitBreaker } from './circuit-breaker.ts';

test('a kind waits for longer each time, half a minute at the most; until it succeeds', () => {
  const breaker = new CircuitBreaker();
  assert.deepEqual([breaker.most('mail', 3, 0), breaker.end(0)], [3, null]);
  let now = 0;
  for (const pause of [2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
    breaker.fail('mail', now);
    // Of those side by side.
    breaker.fail('mail', now + 1);
    assert.deepEqual([breaker.most('mail', 3, now + pause - 1), breaker.end(now)], [0, now + pause]);
    assert.deepEqual([breaker.most('code', 8, now), breaker.most('mail', 3, now + pause)], [8, 1]);
    now += pause;
  }
  breaker.succeed('mail');
  assert.deepEqual([breaker.most('mail', 3, now - 1), breaker.end(0)], [3, null]);
});
