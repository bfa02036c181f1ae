import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mostConnections } from './descriptors.ts';

test('connections leave descriptors to the store, on small machines too', () => {
  assert.equal(mostConnections(65_536), 49_152);
  assert.equal(mostConnections(1_024), 768);
  assert.equal(mostConnections(256), 128);
  assert.equal(mostConnections(128), 32);
});
