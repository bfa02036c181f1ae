import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatOf } from '../src/model/format.ts';

const hebrew = formatOf('he-IL', 'Asia/Jerusalem', 'ממש עכשיו');
const english = formatOf('en-GB', 'Asia/Jerusalem', 'just now');

test('days and times are those of the system, not of the browser', () => {
  const midnight = new Date('2026-10-04T21:00:00Z');
  assert.equal(hebrew.date(midnight), '05.10.2026');
  assert.equal(english.date(midnight), '5 Oct 2026');
  assert.equal(hebrew.date(new Date('2026-12-31T22:30:00Z')), '01.01.2027, 00:30');
  assert.equal(hebrew.moment(midnight), '05.10.2026, 00:00');
});

test('a zone that is not known counts as UTC', () => {
  assert.equal(formatOf('en-GB', 'Mars/Base', '').moment(new Date('2026-01-01T10:00:00Z')), '1 Jan 2026, 10:00');
});

test('times from now are shown in words', () => {
  const now = Date.UTC(2026, 0, 10, 12);
  assert.equal(english.ago(new Date(now - 3 * 3_600_000), now), '3 hours ago');
  assert.equal(english.ago(new Date(now - 20_000), now), 'just now');
  assert.equal(hebrew.ago(new Date(now - 3_600_000), now), 'לפני שעה');
  assert.equal(hebrew.ago(new Date(now - 86_400_000), now), 'אתמול');
});
