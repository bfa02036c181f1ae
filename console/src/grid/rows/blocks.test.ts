import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { BLOCK_ROWS, type Block, BlockCache, LEFT_OUT, requestFor, shownRows, wantedBlocks } from './blocks.ts';

const block = (index: number, length = BLOCK_ROWS): Block => ({
  index,
  rows: Array.from({ length }, (_, at) => ({ objectId: `${index}-${at}` })),
  names: {},
  first: `first of ${index}`,
  last: `last of ${index}`,
});

describe('the blocks that are kept', () => {
  it('are those used last, never more than the limit', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 0, max: 30 })), { maxLength: 200 }), (steps) => {
        const cache = new BlockCache(5);
        let model: number[] = [];
        for (const [isRead, index] of steps) {
          const isThere = model.includes(index);
          assert.equal(cache.peek(index)?.index, isThere ? index : undefined);
          if (isRead) cache.get(index);
          else cache.put(block(index));
          if (!isRead || isThere) model = [...model.filter((one) => one !== index), index].slice(-5);
        }
        assert.deepEqual(
          cache.all().map((one) => one.index),
          model,
        );
      }),
    );
  });

  it('change in place without being used', () => {
    const cache = new BlockCache(2);
    cache.put(block(1));
    cache.put(block(2));
    cache.replace(block(1, 3));
    cache.replace(block(9));
    cache.put(block(3));
    assert.deepEqual(
      cache.all().map((one) => one.index),
      [2, 3],
    );
  });
});

describe('what asks for a block', () => {
  it('is a key beside a neighbour, else a place', () => {
    const cache = new BlockCache();
    cache.put(block(3));
    assert.deepEqual(requestFor(4, cache), { kind: 'after', cursor: 'last of 3' });
    assert.deepEqual(requestFor(2, cache), { kind: 'before', cursor: 'first of 3' });
    assert.deepEqual(requestFor(0, cache), { kind: 'skip', skip: 0 });
    assert.deepEqual(requestFor(9_000, cache), { kind: 'skip', skip: 900_000 });
  });

  it('is no key after a block that was not full', () => {
    const cache = new BlockCache();
    cache.put(block(3, 40));
    assert.deepEqual(requestFor(4, cache), { kind: 'skip', skip: 400 });
  });
});

describe('the blocks that are wanted', () => {
  it('are those seen, then those ahead', () => {
    assert.deepEqual(wantedBlocks(150, 210, 1_000, 1, 2), [1, 2, 3, 4]);
    assert.deepEqual(wantedBlocks(150, 210, 1_000, -1, 2), [2, 1, 0]);
    assert.deepEqual(wantedBlocks(150, 200, 200, 1, 2), [1]);
    assert.deepEqual(wantedBlocks(0, 0, 0, 1, 2), []);
  });
});

it('what is too long for a list stands as such in its cell', () => {
  const rows = [{ objectId: 'a', Name: 'x' }, { objectId: 'b' }];
  const answer = { rows, names: {}, first: null, last: null };
  assert.equal(shownRows(answer), rows);
  assert.deepEqual(shownRows({ ...answer, leftOut: { b: ['Name'] } }), [rows[0], { objectId: 'b', Name: LEFT_OUT }]);
});
