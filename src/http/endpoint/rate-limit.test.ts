import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TooManyRequests } from '../../errors/too-many-requests.ts';
import { RateLimit, rateLimitOf } from './rate-limit.ts';

let now = 0;
const limited = (most: number, remembered?: number) => {
  now = 1_000;
  return new RateLimit(most, () => now, remembered);
};
const refused = (limit: RateLimit, address: string): number | null => {
  try {
    limit.count(address);
    return null;
  } catch (error) {
    assert.ok(error instanceof TooManyRequests);
    assert.deepEqual([error.code, error.status], [155, 429]);
    return error.retryAfter;
  }
};

test('0 is no limit', () => assert.equal(rateLimitOf(0), null));
test('so many in the minute that begins with the first; the rest hear when it ends', () => {
  const limit = limited(3);
  assert.deepEqual(
    [1, 2, 3].map(() => refused(limit, '192.0.2.1')),
    [null, null, null],
  );
  assert.equal(refused(limit, '192.0.2.1'), 60);
  now += 59_001;
  assert.equal(refused(limit, '192.0.2.1'), 1);
  now += 998;
  assert.equal(refused(limit, '192.0.2.1'), 1);
  // Refused requests do not count.
  now += 1;
  assert.deepEqual(
    [1, 2, 3].map(() => refused(limit, '192.0.2.1')),
    [null, null, null],
  );
  assert.equal(refused(limit, '192.0.2.1'), 60);
});
test('addresses are counted each by itself, IPv6 by the /64, whatever form they have', () => {
  const limit = limited(1);
  assert.equal(refused(limit, '192.0.2.1'), null);
  assert.equal(refused(limit, '192.0.2.2'), null);
  assert.equal(refused(limit, '::ffff:192.0.2.1'), 60);
  assert.equal(refused(limit, '2001:db8::1'), null);
  assert.equal(refused(limit, '2001:db8:0:0:ffff::2'), 60);
  assert.equal(refused(limit, '2001:db8:0:1::1'), null);
});
test('what is no address is one', () => {
  const limit = limited(1);
  assert.equal(refused(limit, 'made up'), null);
  assert.equal(refused(limit, 'made up otherwise'), 60);
});
test('of many addresses those that are active are remembered, and no more than so many', () => {
  const limit = limited(1, 100);
  assert.equal(refused(limit, '198.51.100.1'), null);
  for (let n = 0; n < 1_000; n++) {
    assert.equal(refused(limit, `10.0.${n >> 8}.${n & 255}`), null);
    if (n % 50 === 0) assert.equal(refused(limit, '198.51.100.1'), 60);
  }
  assert.equal(refused(limit, '10.0.0.0'), null, 'forgotten');
});
