import assert from 'node:assert/strict';
import { it } from 'node:test';
import { parseNumber } from './parse-number.ts';

it('a number is read as people type it', () => {
  const cases: [string, number | null][] = [
    ['1,234.5', 1234.5],
    ['1234', 1234],
    [' -3 ', -3],
    ['−3', -3],
    ['₪ 1,200', 1200],
    ['.5', 0.5],
    ['2e6', 2_000_000],
    ['1,23', null],
    ['12x', null],
    ['', null],
    ['1e999', null],
    ['0x10', null],
  ];
  for (const [text, number] of cases) assert.equal(parseNumber(text), number, text);
});
