import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '../../kernel/limits.ts';
import { maxValuesInMemory } from './long-bodies.ts';

const MIB = 1024 * 1024;

test('values of bodies take a quarter of a small heap, and two of the largest bodies in a large one', () => {
  for (const heap of [400, 512, 1_000].map((mib) => mib * MIB)) {
    const { all, ofSystem, ofCaller } = maxValuesInMemory(heap);
    assert.ok(all * 100 <= heap / 4, `${all}`);
    assert.deepEqual([ofSystem / all, ofCaller / all], [0.75, 0.5]);
  }
  assert.equal(maxValuesInMemory(64 * MIB).all, 2 * limits.jsonMarksAtOnce);
  assert.equal(maxValuesInMemory(16_000 * MIB).all, 2 * limits.jsonMarks);
});
