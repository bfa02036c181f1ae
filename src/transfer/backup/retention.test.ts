import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseRetention } from '../../config/index.ts';
import { keptOf } from './retention.ts';

const at = (text: string) => Date.parse(text);
const shown = (kept: Set<number>) => [...kept].map((one) => new Date(one).toISOString().slice(0, 16)).toSorted();

test('the newest of each of the last hours, days and months stay', () => {
  const times = [
    '2026-09-30T23:00Z',
    '2026-10-30T10:00Z',
    '2026-11-26T10:00Z',
    '2026-11-27T22:10Z',
    '2026-11-27T22:50Z',
    '2026-11-28T00:10Z',
    '2026-11-28T01:05Z',
    '2026-11-28T01:55Z',
  ].map(at);
  const now = at('2026-11-28T01:59Z');
  assert.deepEqual(shown(keptOf(times, { hours: 2, days: 0, months: 0 }, now)), ['2026-11-28T00:10', '2026-11-28T01:55']);
  assert.deepEqual(shown(keptOf(times, { hours: 0, days: 2, months: 0 }, now)), ['2026-11-27T22:50', '2026-11-28T01:55']);
  assert.deepEqual(shown(keptOf(times, { hours: 0, days: 0, months: 2 }, now)), ['2026-10-30T10:00', '2026-11-28T01:55']);
  const all = shown(keptOf(times, { hours: 48, days: 30, months: 12 }, now));
  assert.deepEqual(all, [
    '2026-09-30T23:00',
    '2026-10-30T10:00',
    '2026-11-26T10:00',
    '2026-11-27T22:50',
    '2026-11-28T00:10',
    '2026-11-28T01:55',
  ]);
});

test('the newest of all stays, however old', () => {
  assert.deepEqual(
    shown(keptOf([at('2020-01-01T00:00Z'), at('2019-01-01T00:00Z')], { hours: 1, days: 1, months: 1 }, at('2026-11-28T00:00Z'))),
    ['2020-01-01T00:00'],
  );
  assert.equal(keptOf([], { hours: 1, days: 1, months: 1 }, 0).size, 0);
});

test('one that a clock of the future made takes no other along', () => {
  const times = [at('2027-01-01T00:00Z'), at('2026-11-28T00:30Z')];
  assert.equal(keptOf(times, { hours: 1, days: 1, months: 1 }, at('2026-11-28T01:00Z')).size, 2);
});

test('rules are read strictly', () => {
  assert.deepEqual(parseRetention('48h,30d,12m'), { hours: 48, days: 30, months: 12 });
  assert.deepEqual(parseRetention('7d'), { hours: 0, days: 7, months: 0 });
  for (const wrong of ['', '7', '7w', '7d,8d', 'd', '-1d', '7 d', '1.5h']) assert.equal(parseRetention(wrong), null, wrong);
});
