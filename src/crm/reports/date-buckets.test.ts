import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HOUR_MS } from '../../kernel/time.ts';
import { nameOfBucket, offsetsBetween } from './date-buckets.ts';

const at = (text: string) => Date.parse(text);

test('the jumps of a clock, to the millisecond', () => {
  const { base, jumps } = offsetsBetween('Asia/Jerusalem', at('2026-01-01T00:00:00Z'), at('2027-01-01T00:00:00Z'), 90);
  assert.equal(base, 2 * HOUR_MS);
  assert.deepEqual(jumps, [
    { at: at('2026-03-27T00:00:00Z'), by: HOUR_MS },
    { at: at('2026-10-24T23:00:00Z'), by: -HOUR_MS },
  ]);
});

test('where there are too many jumps the latest count', () => {
  const { base, jumps } = offsetsBetween('Asia/Jerusalem', at('2020-01-01T00:00:00Z'), at('2027-01-01T00:00:00Z'), 1);
  assert.deepEqual([base, jumps], [3 * HOUR_MS, [{ at: at('2026-10-24T23:00:00Z'), by: -HOUR_MS }]]);
});

test('a zone without jumps, one moment, and times that no clock knows', () => {
  assert.deepEqual(offsetsBetween('Asia/Kolkata', at('2020-01-01T00:00:00Z'), at('2027-01-01T00:00:00Z'), 90), {
    base: 5.5 * HOUR_MS,
    jumps: [],
  });
  const now = at('2026-07-01T00:00:00Z');
  assert.deepEqual(offsetsBetween('Asia/Jerusalem', now, now, 90), { base: 3 * HOUR_MS, jumps: [] });
  assert.deepEqual(offsetsBetween('UTC', -8.64e15, 8.64e15, 90), { base: 0, jumps: [] });
  assert.equal(offsetsBetween('Asia/Jerusalem', 8.6e15, 8.64e15, 90).jumps.length, 0);
});

test('names of buckets', () => {
  assert.deepEqual(
    [
      nameOfBucket('day', 0),
      nameOfBucket('day', -1),
      nameOfBucket('week', 0),
      nameOfBucket('month', 2026 * 12),
      nameOfBucket('month', 2026 * 12 + 11),
      nameOfBucket('quarter', 2026 * 4 + 3),
      nameOfBucket('year', 800),
      nameOfBucket('year', null),
    ],
    ['1970-01-01', '1969-12-31', '1969-12-28', '2026-01', '2026-12', '2026-Q4', '0800', null],
  );
});
