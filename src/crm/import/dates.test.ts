import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dateFormOf, readDate } from './dates.ts';

const zone = 'Asia/Jerusalem';
const read = (text: string, dates = dateFormOf([text])) => {
  const read = readDate(text, { zone, dates }) as { value?: { iso: string }; fault?: string };
  return read.value?.iso ?? read.fault;
};

test('a day alone and a time without a zone are of the system’s zone', () => {
  assert.equal(read('2026-11-25'), '2026-11-24T22:00:00.000Z');
  assert.equal(read('25/11/2026'), '2026-11-24T22:00:00.000Z');
  assert.equal(read('2026-11-25 14:30'), '2026-11-25T12:30:00.000Z');
  assert.equal(read('25.11.2026 14:30'), '2026-11-25T12:30:00.000Z');
  assert.equal(read('2026-11-25T14:30:00Z'), '2026-11-25T14:30:00.000Z');
});

test('day and month are distinguished by another date of the column, or not at all', () => {
  assert.match(String(read('03/04/2026')), /could be each other's. Send 2026-04-03 or 2026-03-04/);
  assert.equal(read('03/04/2026', dateFormOf(['03/04/2026', '25/04/2026'])), '2026-04-02T21:00:00.000Z');
  assert.equal(read('04/04/2026'), '2026-04-03T21:00:00.000Z');
  for (const wrong of ['11/25/2026', '31/02/2026', '25/11/26', 'tomorrow', '25-11/2026'])
    assert.match(String(read(wrong)), /is not/, wrong);
});
