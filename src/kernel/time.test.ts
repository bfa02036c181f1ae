import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isoText } from './time.ts';

test('isoText writes what Date.toISOString writes', () => {
  const edges = [
    0,
    -1,
    1,
    86_399_999,
    86_400_000,
    -86_400_000,
    8.64e15,
    -8.64e15,
    Date.UTC(0, 0, 1),
    Date.UTC(9999, 11, 31, 23, 59, 59, 999),
  ];
  for (const instant of edges) assert.equal(isoText(instant), new Date(instant).toISOString());
  fc.assert(
    fc.property(fc.integer({ min: -8.64e15, max: 8.64e15 }), (instant) => {
      assert.equal(isoText(instant), new Date(instant).toISOString());
    }),
  );
});
