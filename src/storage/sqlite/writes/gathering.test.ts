import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { Gathering } from './gathering.ts';

let due: number;
let gathering: Gathering;
beforeEach(() => {
  mock.timers.enable({ apis: ['setTimeout'] });
  due = 0;
  gathering = new Gathering(() => {
    due++;
  });
});

afterEach(() => mock.timers.reset());

/** Answers some writes while none are pending. @returns whether a group of this size waits then */
const waitsAfter = (answered: number, size: number): boolean => {
  gathering.answered(answered, 0);
  return gathering.shouldWait(size);
};

test('a group waits until as many writes are there as were answered, beside those that were pending', () => {
  gathering.answered(10, 5);
  for (const [size, waits] of [
    [5, true],
    [14, true],
    [15, false],
    [1, false],
  ] as const)
    assert.equal(gathering.shouldWait(size), waits, `${size}`);
  assert.equal(gathering.isWaiting, false);
});

test('few writes are not waited for', () => {
  assert.equal(waitsAfter(3, 1), false);
  assert.equal(waitsAfter(4, 1), true);
});

test('it waits for a millisecond; after that in vain, groups do not wait: ever more, until one wait pays', () => {
  const inVain = () => {
    let skipped = 0;
    while (!waitsAfter(10, 1)) skipped++;
    mock.timers.tick(1);
    assert.equal(gathering.isWaiting, false);
    return skipped;
  };
  assert.deepEqual([inVain(), inVain(), inVain(), inVain()], [0, 1, 2, 4]);
  assert.equal(due, 4);
  for (let n = 0; n < 8; n++) assert.equal(waitsAfter(10, 1), false);
  assert.equal(waitsAfter(10, 10), false);
  assert.deepEqual([inVain(), inVain()], [0, 1]);
});

test('a group that is committed or undone waits no longer', () => {
  assert.equal(waitsAfter(10, 1), true);
  gathering.stop();
  mock.timers.tick(1);
  assert.equal(due, 0);
  assert.equal(gathering.shouldWait(1), false);
});
