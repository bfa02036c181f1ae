import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseIsoDate } from './iso.ts';

const same: [string, string][] = [
  ['2024-01-01', '2024-01-01T00:00:00.000Z'],
  ['2024-01-01T02:00:00.5+02:00', '2024-01-01T00:00:00.500Z'],
  ['2024-01-01T10:20', '2024-01-01T10:20:00.000Z'],
  ['2024-01-01T10:20:30', '2024-01-01T10:20:30.000Z'],
  ['2024-01-01T10:20:30.123456', '2024-01-01T10:20:30.123Z'],
  ['2024-02-29T23:59:59Z', '2024-02-29T23:59:59.000Z'],
  ['0000-02-29T00:00:00.000Z', '0000-02-29T00:00:00.000Z'],
  ['-000004-02-29', '-000004-02-29T00:00:00.000Z'],
];
for (const [text, iso] of same)
  test(`${text} is ${iso}`, () => assert.equal(new Date(parseIsoDate(text) ?? Number.NaN).toISOString(), iso));

const none =
  `yesterday 2024 2024-1-1 2024-13-01 2024-00-01 2024-01-00 0002-12-00 +000012-13-04 2024-01-32 2023-02-29 1900-02-29 2024-04-31 01/02/2024 -000000-01-01
  2024-01-01T25:00:00Z 2024-01-01T24:00:01Z 2024-01-01T00:60:00Z 2024-01-01T00:00:60Z 2024-01-01T00:00:00+99:99 2024-01-01T00:00:00+0200 2024-01-01Z
  2024-01-01t00:00:00z +275760-09-13T00:00:00.001Z 2024-01-01T00:00:00.0000000000Z`.split(/\s+/);
for (const text of [...none, '', ' 2024-01-01', '2024-01-01\n', '2024-01-01T00:00:00.000Z '])
  test(`${JSON.stringify(text)} is no instant`, () => assert.equal(parseIsoDate(text), null));

test('every text that toISOString writes is read as its instant', () =>
  fc.assert(fc.property(fc.integer({ min: -8.64e15, max: 8.64e15 }), (ms) => parseIsoDate(new Date(ms).toISOString()) === ms)));
