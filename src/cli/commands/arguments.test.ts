import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byteCount } from './files.ts';

const right: [text: string, bytes: number][] = [
  ['0', 0],
  ['12345', 12_345],
  ['7B', 7],
  ['10MB', 10_000_000],
  ['10 mb', 10_000_000],
  ['1.5GB', 1_500_000_000],
  ['1KiB', 1024],
  ['1.5GiB', 1_610_612_736],
  ['2tib', 2 * 1024 ** 4],
];
for (const [text, bytes] of right) test(`a number of bytes: ${text}`, () => assert.equal(byteCount(text), bytes));

for (const text of [
  '',
  '-1',
  '1.5',
  '1.0001KB',
  'MB',
  '1 iB',
  '1PB',
  '1e3',
  '0x10',
  '9999999999999999',
  '99999TiB',
  '10MBs',
  '1  MB',
])
  test(`no number of bytes: ${JSON.stringify(text)}`, () => assert.throws(() => byteCount(text)));
