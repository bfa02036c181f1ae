import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { StallAllowance } from '../../kernel/stall-allowance.ts';
import { StallGuardedPieces } from './stall-guard.ts';

/** Pieces for a client that has the given milliseconds for each, and their fate. */
function waitedFor(pauseMs: number, pieces = ['1', '2', '3']) {
  const seen = { givenUp: 0, returned: 0 };
  async function* source() {
    try {
      yield* pieces;
    } finally {
      seen.returned++;
    }
  }
  const awaited = new StallGuardedPieces(source(), () => seen.givenUp++, new StallAllowance(pauseMs));
  return { awaited, seen };
}

test('a client that asks for the next piece in time gets all of them', async () => {
  const { awaited, seen } = waitedFor(60_000);
  const got: string[] = [];
  for await (const piece of awaited) got.push(piece);
  assert.deepEqual([got.join(''), seen], ['123', { givenUp: 0, returned: 1 }]);
});

test('one that does not is given up, once', async () => {
  const { awaited, seen } = waitedFor(20);
  await awaited.next();
  await awaited.next();
  assert.equal(seen.givenUp, 0);
  for (const deadline = performance.now() + 5_000; seen.givenUp === 0 && performance.now() < deadline; ) await wait(5);
  await awaited.return();
  assert.deepEqual(seen, { givenUp: 1, returned: 1 });
});

test('what makes them may take as long as it likes, and so may what comes after the last', async () => {
  const { awaited, seen } = waitedFor(20, []);
  async function* slow() {
    await wait(100);
    yield 'late';
    await wait(100);
  }
  const pieces = new StallGuardedPieces(slow(), () => seen.givenUp++, new StallAllowance(20));
  for await (const piece of pieces) assert.equal(piece, 'late');
  assert.equal((await awaited.next()).done, true);
  await wait(60);
  assert.equal(seen.givenUp, 0);
});

test('pieces that were never begun are returned', async () => {
  let returned = 0;
  const source: AsyncIterableIterator<string> = {
    [Symbol.asyncIterator]: () => source,
    next: () => assert.fail('nobody asked'),
    return: async () => {
      returned++;
      return { done: true, value: undefined };
    },
  };
  await new StallGuardedPieces(source, () => {}).return();
  assert.equal(returned, 1);
});

test('a long piece is waited for as long as it takes at the least pace, and so is the one before it', async () => {
  const { awaited, seen } = waitedFor(20, ['x'.repeat(100_000), '2', '3']);
  for (let n = 0; n < 2; n++) {
    await awaited.next();
    await wait(100);
    assert.equal(seen.givenUp, 0);
  }
  await awaited.next();
  await wait(100);
  assert.equal(seen.givenUp, 1);
  await awaited.return();
});
