import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FlushOverlap } from './flush-overlap.ts';

/** An event loop that works for 32 clients, whose writes take it 3 ms, on a disk whose flushes take `flushMs`. */
class Loop {
  flushMs: number;
  readonly #time = { idle: 0, active: 0 };
  readonly overlap = new FlushOverlap(() => ({ ...this.#time }));

  constructor(flushMs: number) {
    this.flushMs = flushMs;
  }

  commit(groups: number): void {
    for (let n = 0; n < groups; n++) {
      const { isSplit } = this.overlap;
      this.overlap.began(isSplit ? 16 : 32);
      const workMs = isSplit ? 1.5 : 3;
      // In two groups, the loop works for one half during the flush of the other.
      this.#time.idle += isSplit ? Math.max(0, this.flushMs - workMs) : this.flushMs;
      if (isSplit) this.#time.active += workMs;
      this.overlap.ended();
      if (!isSplit) this.#time.active += workMs;
    }
  }
}

test('a fast disk gets the writes of all clients in two groups, a slow one in one', () => {
  for (const [flushMs, isSplit] of [
    [0.1, true],
    [0.5, true],
    [1.8, true],
    [2.4, false],
    [20, false],
  ] as const) {
    const loop = new Loop(flushMs);
    loop.commit(100);
    assert.equal(loop.overlap.isSplit, isSplit, `${flushMs} ms`);
  }
});

test('a disk that becomes slow or fast is noticed', () => {
  const loop = new Loop(0.3);
  loop.commit(20);
  assert.ok(loop.overlap.isSplit);
  loop.flushMs = 20;
  loop.commit(20);
  assert.ok(!loop.overlap.isSplit);
  loop.flushMs = 0.3;
  loop.commit(100);
  assert.ok(loop.overlap.isSplit);
});

test('writes of few clients do not count', () => {
  const overlap = new FlushOverlap(() => ({ idle: 0, active: performance.now() }));
  for (let n = 0; n < 50; n++) {
    overlap.began(3);
    overlap.ended();
  }
  assert.ok(!overlap.isSplit);
});
