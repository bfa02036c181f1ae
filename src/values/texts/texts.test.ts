import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isoText } from '../../kernel/time.ts';
import { readBooleanText, readNumberText } from '../index.ts';
import { type DateOrder, readDateText } from './dates.ts';

const instants: [text: string, order: DateOrder | undefined, read: string | null][] = [
  ['2026-04-03', undefined, '2026-04-03T00:00:00.000Z'],
  ['2026-04-03 10:00', 'dmy', '2026-04-03T10:00:00.000Z'],
  ['2026-04-03T10:00:00+02:00', undefined, '2026-04-03T08:00:00.000Z'],
  ['03/04/2026', undefined, 'ambiguous'],
  ['03/04/26', undefined, 'ambiguous'],
  ['03/04/26', 'dmy', '2026-04-03T00:00:00.000Z'],
  ['03/04/26', 'mdy', '2026-03-04T00:00:00.000Z'],
  ['03/04/26', 'ymd', '2003-04-26T00:00:00.000Z'],
  ['3.4.1999 7:05', 'dmy', '1999-04-03T07:05:00.000Z'],
  ['03-04-71', 'dmy', '1971-04-03T00:00:00.000Z'],
  ['25/12/2026', undefined, '2026-12-25T00:00:00.000Z'],
  ['12/25/2026', undefined, '2026-12-25T00:00:00.000Z'],
  ['12/25/2026', 'dmy', null],
  ['5/5/2026', undefined, '2026-05-05T00:00:00.000Z'],
  ['2026/4/3', 'dmy', '2026-04-03T00:00:00.000Z'],
  ['2026/4/3', undefined, '2026-04-03T00:00:00.000Z'],
  ['30/02/2026', 'dmy', null],
  ['03/04-2026', 'dmy', null],
  ['1/1/126', 'dmy', null],
  ['03/04/2026 25:00', 'dmy', null],
  ['tomorrow', 'dmy', null],
  ['', undefined, null],
];
for (const [text, order, expected] of instants)
  test(`the date ${text} (${order})`, () => {
    const read = readDateText(text, order);
    assert.equal(typeof read === 'number' ? isoText(read) : read, expected);
  });

test('numbers as people and programs write them', () => {
  const read = ['1234.5', ' -5 ', '1e+21', '1,234.50 ₪', '(12)', '5%', '.5', '1,23', '1.234,5', '', '1e999', '0x10', 'five'];
  assert.deepEqual(read.map(readNumberText), [1234.5, -5, 1e21, 1234.5, -12, 5, 0.5, null, null, null, null, null, null]);
});

test('Booleans in English and Hebrew', () => {
  const read = ['TRUE', 'no', 'כן', ' לא ', '1', '0', '2', ''];
  assert.deepEqual(read.map(readBooleanText), [true, false, true, false, true, false, null, null]);
});
