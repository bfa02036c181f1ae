import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FramedPieces } from './framed-pieces.ts';

/** Pieces that record whether they were released. */
function source(pieces: string[], failAt = Number.NaN) {
  const seen = { returned: 0 };
  let at = 0;
  const iterable: AsyncIterable<string> = {
    [Symbol.asyncIterator]: () => ({
      async next() {
        if (at === failAt) throw new Error('broken');
        const value = pieces[at++];
        return value === undefined ? { done: true, value } : { done: false, value };
      },
      async return() {
        seen.returned++;
        return { done: true, value: undefined };
      },
    }),
  };
  return { iterable, seen };
}

async function text(pieces: AsyncIterable<string | Uint8Array>): Promise<string> {
  let all = '';
  for await (const piece of pieces) all += piece;
  return all;
}

test('a text before and after', async () => {
  let ended = 0;
  const { iterable, seen } = source(['1', ',2']);
  assert.equal(await text(new FramedPieces('[', iterable, ']', () => ended++)), '[1,2]');
  assert.deepEqual([seen.returned, ended], [0, 1]);
});
for (const read of [0, 1, 2])
  test(`return after ${read} pieces reaches the source`, async () => {
    let ended = 0;
    const { iterable, seen } = source(['1', ',2']);
    const pieces = new FramedPieces('[', iterable, ']', () => ended++);
    for (let n = 0; n < read; n++) await pieces.next();
    await pieces.return();
    await pieces.return();
    assert.deepEqual([seen.returned, ended], [1, 1]);
    assert.equal((await pieces.next()).done, true);
  });
test('a failure is passed on, and nothing comes after it', async () => {
  let ended = 0;
  const pieces = new FramedPieces('[', source(['1'], 1).iterable, ']', () => ended++);
  await assert.rejects(text(pieces), /broken/);
  assert.deepEqual([(await pieces.next()).done, ended], [true, 1]);
});
test('a piece that comes after the client has left is dropped, and the source is notified once more', async () => {
  const { iterable, seen } = source(['1', ',2']);
  const pieces = new FramedPieces('', iterable, ']');
  const underWay = pieces.next();
  await pieces.return();
  assert.equal((await underWay).done, true);
  assert.deepEqual([seen.returned, (await pieces.next()).done], [2, true]);
});
