import assert from 'node:assert/strict';
import { test } from 'node:test';
import { counted } from './counted.ts';

test('a number of things', () => {
  assert.equal(counted(0, 'file'), '0 files');
  assert.equal(counted(1, 'file'), '1 file');
  assert.equal(counted(2194, 'record'), '2194 records');
  assert.equal(counted(2194, 'record', '2,194'), '2,194 records');
});
