import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StallAllowance } from './stall-allowance.ts';

/** Returns the milliseconds until a client is given up, and how much it has taken by then; it takes a piece of a fixed size at a fixed interval. */
function read(
  size: number,
  every: (piece: number) => number,
  pieces: number,
): { readonly time: number; readonly pieces: number } {
  let now = 0;
  const pauses = new StallAllowance(60_000, 600_000, () => now);
  for (let piece = 0; piece < pieces; piece++) {
    const pause = every(piece);
    const may = pauses.begin(size);
    if (pause > may) return { time: now + may, pieces: piece };
    now += pause;
    pauses.end();
  }
  return { time: now, pieces };
}

test('one pause may take its time, and no longer', () => {
  assert.equal(read(32_768, () => 60_001, 10).time, 60_000);
  assert.equal(read(32_768, () => 59_999, 5).pieces, 5);
});

test('who trickles is given up when all their pauses are over', () => {
  const { time, pieces } = read(32_768, () => 50_000, 1_000);
  assert.ok(time >= 600_000 && time < 660_000, `${time} ms`);
  assert.equal(pieces, 12);
});

test('who takes 64 KB a second is never given up, and neither is a slow one with a short answer', () => {
  assert.equal(read(65_536, () => 1_000, 100_000).pieces, 100_000);
  assert.equal(read(65_536, () => 10_000, 60).pieces, 60);
});

test('what was taken fast gives no time beyond that of all pauses', () => {
  const { time } = read(131_072, (piece) => (piece < 50_000 ? 1 : 50_000), 100_000);
  assert.ok(time < 50_000 + 700_000, `${time} ms`);
});
