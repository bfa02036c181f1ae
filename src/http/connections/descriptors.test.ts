import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maxConnections } from './descriptors.ts';

test('connections leave descriptors to the store, on small machines too', () => {
  assert.equal(maxConnections(65_536), 49_152);
  assert.equal(maxConnections(1_024), 768);
  assert.equal(maxConnections(256), 128);
  assert.equal(maxConnections(128), 32);
});
