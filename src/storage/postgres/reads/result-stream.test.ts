import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { wholeText } from '../../port.ts';
import { jsonArray } from './result-stream.ts';

/** Yields `count` pages of a text of `size` characters, and records what was consumed. */
function source(count: number, size: number, error?: { at: number; error: Error }) {
  const seen = { made: 0, closed: false };
  async function* pages() {
    try {
      for (let n = 0; n < count; n++) {
        if (error?.at === n) throw error.error;
        seen.made++;
        yield (n > 0 ? ',' : '') + JSON.stringify('x'.repeat(size - 2));
      }
    } finally {
      seen.closed = true;
    }
  }
  return { seen, pages: pages() };
}

async function streamed(pages: AsyncGenerator<string>): Promise<AsyncIterator<string>> {
  const answer = await jsonArray(pages);
  assert.notEqual(typeof answer, 'string');
  return (answer as AsyncIterable<string>)[Symbol.asyncIterator]();
}

describe('an answer that comes page by page', () => {
  test('is one text where it is short', async () => {
    assert.equal(await jsonArray(source(0, 0).pages), '[]');
    assert.equal(await jsonArray(source(2, 3).pages), '["x","x"]');
  });

  test('comes in pieces where it is long, and is the same', async () => {
    for (const [count, size] of [
      [1, 40_000],
      [3, 40_000],
      [5_000, 100],
      [40, 100_000],
    ] as const) {
      const { pages, seen } = source(count, size);
      const answer = await jsonArray(pages);
      assert.notEqual(typeof answer, 'string');
      assert.deepEqual(JSON.parse(await wholeText(answer)), Array(count).fill('x'.repeat(size - 2)));
      assert.equal(seen.closed, true);
    }
  });

  test('fails as a whole where the first piece does, and breaks off later', async () => {
    const error = new Error('lost');
    await assert.rejects(jsonArray(source(3, 100, { at: 1, error }).pages), error);
    const answer = await streamed(source(3, 40_000, { at: 2, error }).pages);
    await answer.next();
    await answer.next();
    await assert.rejects(Promise.resolve(answer.next()), error);
  });

  test('is made ahead of its client so far and no further', async () => {
    const { pages, seen } = source(1_000, 100_000);
    const answer = await streamed(pages);
    await pause(50);
    assert.ok(seen.made < 15, String(seen.made));
    for (let n = 0; n < 5; n++) await answer.next();
    await pause(20);
    assert.ok(seen.made > 12 && seen.made < 20, String(seen.made));
    await answer.return?.();
    await pause(20);
    assert.equal(seen.closed, true);
    assert.deepEqual(await answer.next(), { done: true, value: undefined });
  });

  test('that is no longer wanted lets go though nothing was read', async () => {
    const { pages, seen } = source(1_000, 100_000);
    const answer = await streamed(pages);
    await answer.return?.();
    await pause(20);
    assert.equal(seen.closed, true);
  });
});
