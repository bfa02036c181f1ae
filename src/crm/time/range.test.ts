import assert from 'node:assert/strict';
import { test } from 'node:test';
import { constraintOf, instantIn, rangeIn } from './range.ts';

const ZONE = 'Asia/Jerusalem';
const iso = (at: number) => new Date(at).toISOString();

test('a text without a zone is a time of the system, a day its midnight, and one with a zone what it names', () => {
  const cases: [zone: string, text: string, expected: string][] = [
    [ZONE, '2026-01-31', '2026-01-30T22:00:00.000Z'],
    [ZONE, '2026-01-31T09:00', '2026-01-31T07:00:00.000Z'],
    [ZONE, '2026-07-31T09:00:30.250', '2026-07-31T06:00:30.250Z'],
    [ZONE, '2026-01-31T09:00Z', '2026-01-31T09:00:00.000Z'],
    [ZONE, '2026-01-31T09:00:00-05:00', '2026-01-31T14:00:00.000Z'],
    ['UTC', '2026-01-31T09:00', '2026-01-31T09:00:00.000Z'],
    ['UTC', '2026-01-31', '2026-01-31T00:00:00.000Z'],
    // A time skipped by the clock is as long after the jump; a repeated one is its first occurrence.
    [ZONE, '2026-03-27T02:30', '2026-03-27T00:30:00.000Z'],
    [ZONE, '2026-10-25T01:30', '2026-10-24T22:30:00.000Z'],
    // There is no midnight: the day begins with its first instant.
    ['America/Santiago', '2026-09-06', '2026-09-06T04:00:00.000Z'],
    ['Africa/Cairo', '2026-04-24', '2026-04-23T22:00:00.000Z'],
    [ZONE, '0000-01-01', '-000001-12-31T21:39:06.000Z'],
    [ZONE, '9999-12-31T23:59', '9999-12-31T21:59:00.000Z'],
  ];
  for (const [zone, text, expected] of cases) assert.equal(iso(instantIn(zone, text)), expected, `${zone} ${text}`);
});

test('a range ends with its last day, with a time where its tool says', () => {
  const shown = (from?: string, to?: string, isToWithin = false) => constraintOf(rangeIn(ZONE, { from, to }, isToWithin));
  const at = (text: string) => ({ __type: 'Date', iso: text });
  const start = { $gte: at('2026-01-30T22:00:00.000Z') };
  assert.deepEqual(shown('2026-01-31', '2026-01-31'), { ...start, $lt: at('2026-01-31T22:00:00.000Z') });
  assert.deepEqual(shown('2026-01-31', '2026-01-31', true), { ...start, $lt: at('2026-01-31T22:00:00.000Z') });
  assert.deepEqual(shown(undefined, '2026-01-31T10:00'), { $lt: at('2026-01-31T08:00:00.000Z') });
  assert.deepEqual(shown(undefined, '2026-01-31T10:00', true), { $lte: at('2026-01-31T08:00:00.000Z') });
  // Days with a clock change have 23 and 25 hours.
  assert.deepEqual(shown('2026-03-27', '2026-03-27'), {
    $gte: at('2026-03-26T22:00:00.000Z'),
    $lt: at('2026-03-27T21:00:00.000Z'),
  });
  assert.deepEqual(shown('2026-10-25', '2026-10-25'), {
    $gte: at('2026-10-24T21:00:00.000Z'),
    $lt: at('2026-10-25T22:00:00.000Z'),
  });
  assert.deepEqual(shown(undefined, '9999-12-31'), { $lt: at('9999-12-31T22:00:00.000Z') });
  assert.deepEqual(shown(), {});
});
