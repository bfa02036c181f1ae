import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SourceRow } from '../columns/row.ts';
import { RowFeed } from './row-feed.ts';

const rowOf = (number: number): SourceRow => ({ number, length: 1, read: assert.fail, toJson: () => number });
let ended = 0;

async function* blocks(): AsyncGenerator<readonly SourceRow[]> {
  try {
    yield [];
    yield [1, 2, 3].map(rowOf);
    yield [];
    yield [4, 5].map(rowOf);
  } finally {
    ended++;
  }
}

async function numbers(feed: RowFeed, max: number): Promise<number[][]> {
  const slices: number[][] = [];
  for (;;) {
    const slice = await feed.next(max);
    if (slice.length === 0) return slices;
    slices.push(slice.map(({ number }) => number));
  }
}

test('rows come in slices of a block, behind those that were dealt with', async () => {
  assert.deepEqual(await numbers(new RowFeed(blocks, 0), 2), [[1, 2], [3], [4, 5]]);
  assert.deepEqual(await numbers(new RowFeed(blocks, 2), 9), [[3], [4, 5]]);
  assert.deepEqual(await numbers(new RowFeed(blocks, 3), 9), [[4, 5]]);
  for (const done of [5, 6]) assert.equal(await new RowFeed(blocks, done).hasMore(), false);
});

test('it goes back, and what it read before is ended', async () => {
  const feed = new RowFeed(blocks, 0);
  assert.equal((await feed.next(2)).length, 2);
  const before = ended;
  await feed.begin(1);
  assert.equal(ended, before + 1);
  assert.equal(await feed.hasMore(), true);
  assert.deepEqual(await numbers(feed, 9), [
    [2, 3],
    [4, 5],
  ]);
  await feed.begin(4);
  assert.deepEqual(await numbers(feed, 9), [[5]]);
});
