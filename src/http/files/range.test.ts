import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestedRange } from './send.ts';

const of = { etag: '"abc"', lastModified: 'Sun, 22 Nov 2026 00:54:52 GMT' };

for (const [range, wanted] of [
  [undefined, null],
  ['bytes=0-9', { start: 0, end: 9 }],
  ['bytes=90-', { start: 90, end: 99 }],
  ['bytes=90-500', { start: 90, end: 99 }],
  ['bytes=-10', { start: 90, end: 99 }],
  ['bytes=-100', { start: 0, end: 99 }],
  ['bytes=-5000', { start: 0, end: 99 }],
  ['bytes=100-', 'none'],
  ['bytes=-0', 'none'],
  ['bytes=5-2', 'none'],
  ['bytes=0-1,5-6', null],
  ['bytes=a-b', null],
  ['bytes=', null],
  ['items=0-9', null],
  ['items=200-', null],
  ['', null],
] as const)
  test(`Range ${range} of 100 bytes`, () => {
    const headers = range === undefined ? {} : { range };
    assert.deepEqual(requestedRange(headers, 100, of), wanted);
  });

for (const [ifRange, isPart] of [
  ['"abc"', true],
  [of.lastModified, true],
  ['W/"abc"', false],
  ['"other"', false],
  ['Sun, 22 Nov 2026 00:54:53 GMT', false],
] as const)
  test(`If-Range ${ifRange}`, () => {
    const wanted = requestedRange({ range: 'bytes=0-0', 'if-range': ifRange }, 100, of);
    assert.deepEqual(wanted, isPart ? { start: 0, end: 0 } : null);
  });
