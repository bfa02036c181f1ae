import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addDays, dayIn, startOfDay } from './time-zone.ts';

const iso = (at: number) => new Date(at).toISOString();

test('a day begins at midnight of its zone, summer time too', () => {
  assert.equal(iso(startOfDay('UTC', '2026-01-31')), '2026-01-31T00:00:00.000Z');
  assert.equal(iso(startOfDay('Asia/Jerusalem', '2026-01-31')), '2026-01-30T22:00:00.000Z');
  assert.equal(iso(startOfDay('Asia/Jerusalem', '2026-07-01')), '2026-06-30T21:00:00.000Z');
  // Summer time in Israel begins on this day at 2 o'clock, so midnight is still winter time.
  assert.equal(iso(startOfDay('Asia/Jerusalem', '2026-03-27')), '2026-03-26T22:00:00.000Z');
  assert.equal(iso(startOfDay('America/New_York', '2026-11-01')), '2026-11-01T04:00:00.000Z');
  assert.equal(iso(startOfDay('America/New_York', '2026-11-02')), '2026-11-02T05:00:00.000Z');
});

test('an instant is of the day that its zone has then', () => {
  assert.equal(dayIn('Asia/Jerusalem', Date.parse('2026-01-30T22:00:00Z')), '2026-01-31');
  assert.equal(dayIn('UTC', Date.parse('2026-01-30T22:00:00Z')), '2026-01-30');
  assert.equal(dayIn('Asia/Kolkata', Date.parse('1999-12-31T18:29:59.999Z')), '1999-12-31');
  assert.equal(dayIn('Asia/Kolkata', Date.parse('1999-12-31T18:30:00Z')), '2000-01-01');
  assert.equal(dayIn('America/New_York', Date.parse('0005-01-01T00:00:00Z')), '0004-12-31');
  assert.equal(dayIn('Asia/Jerusalem', Date.parse('9999-12-31T23:00:00Z')), '10000-01-01');
  assert.equal(addDays('2026-02-28', 1), '2026-03-01');
  assert.equal(addDays('2026-01-01', -1), '2025-12-31');
});
