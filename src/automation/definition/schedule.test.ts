import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonValue } from '../../kernel/json.ts';
import { checkRuns, nextRun, readSchedule } from './schedule.ts';

/** Returns consecutive runs. */
function runs(cron: string, timezone: string, from: string, count: number): string[] {
  const found: string[] = [];
  let at = Date.parse(from);
  while (found.length < count) {
    at = nextRun({ cron, timezone }, at) ?? assert.fail('there is no next run');
    found.push(new Date(at).toISOString());
  }
  return found;
}

const following: [what: string, cron: string, timezone: string, from: string, ...string[]][] = [
  ['each second', '* * * * * *', 'UTC', '2024-01-01T00:00:00.000Z', '2024-01-01T00:00:01.000Z', '2024-01-01T00:00:02.000Z'],
  ['a part of a second', '* * * * * *', 'UTC', '2024-01-01T00:00:00.999Z', '2024-01-01T00:00:01.000Z'],
  ['5 fields', '*/15 9-10 * * 1', 'UTC', '2024-01-01T10:30:00Z', '2024-01-01T10:45:00.000Z', '2024-01-08T09:00:00.000Z'],
  ['a day of the month or of the week', '0 0 13 * 5', 'UTC', '2024-06-07T00:00:00Z', '2024-06-13T00:00:00.000Z'],
  ['names', '0 0 * feb MON', 'UTC', '2024-01-01T00:00:00Z', '2024-02-05T00:00:00.000Z'],
  ['the last day of a month', '0 0 L 2 *', 'UTC', '2024-01-01T00:00:00Z', '2024-02-29T00:00:00.000Z', '2025-02-28T00:00:00.000Z'],
  ['29 February after 2096', '0 0 29 2 *', 'UTC', '2096-03-01T00:00:00Z', '2104-02-29T00:00:00.000Z'],
  [
    'nine in the morning in Jerusalem as summer time begins',
    ...['0 9 * * *', 'Asia/Jerusalem', '2024-03-28T12:00:00Z', '2024-03-29T06:00:00.000Z', '2024-03-30T06:00:00.000Z'],
  ] as const,
  [
    'and as it ends',
    ...['0 9 * * *', 'Asia/Jerusalem', '2024-10-26T00:00:00Z', '2024-10-26T06:00:00.000Z', '2024-10-27T07:00:00.000Z'],
  ] as const,
  [
    'a time that the clock passes over',
    ...['30 2 * * *', 'Asia/Jerusalem', '2024-03-28T12:00:00Z', '2024-03-29T00:00:00.000Z', '2024-03-29T23:30:00.000Z'],
  ] as const,
  [
    'a time that comes twice',
    ...['30 1 * * *', 'Asia/Jerusalem', '2024-10-26T12:00:00Z', '2024-10-26T22:30:00.000Z', '2024-10-27T23:30:00.000Z'],
  ] as const,
];

describe('schedules', () => {
  for (const [what, cron, timezone, from, ...expected] of following)
    test(`the next run: ${what}`, () => assert.deepEqual(runs(cron, timezone, from, expected.length), expected));

  const refused: [JsonValue, string][] = [
    ['* * * * *', 'schedule is not an object'],
    [null, 'schedule is missing'],
    [{}, 'schedule.cron is missing'],
    [{ cron: 5 }, 'schedule.cron is not a text'],
    [{ cron: ' ' }, 'schedule.cron is empty'],
    [{ cron: '* * * * *', zone: 'UTC' }, 'schedule.zone is unknown'],
    [{ cron: '* * * *' }, 'schedule.cron has not 5 or 6 fields'],
    [{ cron: '* * * * * * *' }, 'schedule.cron has not 5 or 6 fields'],
    [{ cron: '@daily' }, 'schedule.cron has not 5 or 6 fields'],
    [{ cron: '2024-05-01T00:00:00' }, 'schedule.cron has not 5 or 6 fields'],
    [{ cron: '60 * * * *' }, 'schedule.cron cannot be read: 60 * * * *'],
    [{ cron: '? * * * *' }, 'schedule.cron cannot be read: ? * * * *'],
    [{ cron: '*/0 * * * *' }, 'schedule.cron cannot be read: */0 * * * *'],
    [{ cron: 'a b c d e' }, 'schedule.cron cannot be read: a b c d e'],
    [{ cron: `${'0,'.repeat(300)}0 * * * *` }, 'schedule.cron is longer than 500 characters'],
    [{ cron: '* * * * *', timezone: 'Mars/Olympus' }, 'schedule.timezone is no IANA time zone: Mars/Olympus'],
    [{ cron: '* * * * *', timezone: '+02:00' }, 'schedule.timezone is no IANA time zone: +02:00'],
    [{ cron: '* * * * *', timezone: '' }, 'schedule.timezone is no IANA time zone: '],
    [{ cron: '* * * * *', timezone: 2 }, 'schedule.timezone is not a text'],
  ];
  for (const [value, why] of refused)
    test(`refused: ${JSON.stringify(value).slice(0, 60)}`, () =>
      assert.throws(() => readSchedule(value), { code: 107, message: `Invalid trigger: ${why}` }));

  test('UTC is the zone where none is named, and spaces are alike', () => {
    assert.deepEqual(readSchedule({ cron: '  0  9 * * *\t' }), { cron: '0 9 * * *', timezone: 'UTC' });
    assert.deepEqual(readSchedule({ cron: '0 9 * * *', timezone: null }), { cron: '0 9 * * *', timezone: 'UTC' });
  });

  test('a schedule that never comes, or in too many years, is refused', () => {
    const now = Date.parse('2024-03-01T00:00:00Z');
    for (const cron of ['0 0 30 2 *', '0 0 31 4,6,9,11 *', '0 0 29 2 +1'])
      assert.throws(() => checkRuns({ cron, timezone: 'UTC' }, now), {
        code: 107,
        message: /no run within the next eight years/,
      });
    checkRuns({ cron: '0 0 29 2 *', timezone: 'UTC' }, Date.parse('2096-03-01T00:00:00Z'));
    assert.equal(nextRun({ cron: '0 0 30 2 *', timezone: 'UTC' }, now), null);
    assert.equal(nextRun({ cron: 'nonsense', timezone: 'UTC' }, now), null);
  });
});
