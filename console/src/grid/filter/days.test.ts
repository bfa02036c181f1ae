import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type DayWord, daysOf, endOfDay, startOfDay } from './days.ts';

const timeZone = 'Asia/Jerusalem';
/** A Wednesday, 00:30 in Jerusalem; still Tuesday in London. */
const clock = { timeZone, nowMs: Date.parse('2026-09-29T21:30:00.000Z') };
const days = (word: DayWord, count = 1) => {
  const { from, to } = daysOf(word, count, clock);
  return `${from}/${to}`;
};

describe('days told by a word', () => {
  it('are those of the zone of the system', () => {
    assert.equal(days('today'), '2026-09-30/2026-09-30');
    assert.equal(days('yesterday'), '2026-09-29/2026-09-29');
    assert.equal(days('tomorrow'), '2026-10-01/2026-10-01');
    assert.equal(days('thisMonth'), '2026-09-01/2026-09-30');
    assert.equal(days('lastMonth'), '2026-08-01/2026-08-31');
    assert.equal(days('thisYear'), '2026-01-01/2026-12-31');
  });

  it('are weeks from Sunday', () => {
    assert.equal(days('thisWeek'), '2026-09-27/2026-10-03');
    assert.equal(days('lastWeek'), '2026-09-20/2026-09-26');
  });

  it('count today among the last and tomorrow as the first of the next', () => {
    assert.equal(days('lastDays', 7), '2026-09-24/2026-09-30');
    assert.equal(days('lastDays', 1), '2026-09-30/2026-09-30');
    assert.equal(days('nextDays', 7), '2026-10-01/2026-10-07');
  });
});

describe('the ends of a day', () => {
  it('are those of the zone, also when the clocks change', () => {
    assert.equal(startOfDay('2026-09-30', timeZone), '2026-09-29T21:00:00.000Z');
    assert.equal(endOfDay('2026-10-25', timeZone), '2026-10-25T22:00:00.000Z');
    assert.equal(startOfDay('2026-10-25', timeZone), '2026-10-24T21:00:00.000Z');
  });
});
