import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairQueue } from './fair-queue.ts';

/** Reads, named by their store and a number. */
const read = (name: string) => ({ path: name[0] as string, name });

function linesOf(names: string) {
  const lines = new FairQueue<ReturnType<typeof read>>();
  const reads = names.split(' ').map(read);
  for (const one of reads) lines.add(one);
  const take = (atWork: (path: string) => number = () => 0) => {
    const turn = lines.turn(atWork, 3);
    return turn === undefined ? undefined : lines.take(turn)?.name;
  };
  return { lines, reads, take };
}

test('stores take turns, whatever waits in their lines', () => {
  const { take } = linesOf('a1 a2 a3 b1 b2 c1');
  const taken = Array.from({ length: 7 }, () => take());
  assert.deepEqual(taken, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3', undefined]);
});

test('the store with the fewest reads at work is first, and one with too many waits', () => {
  const { take } = linesOf('a1 a2 b1 b2 c1');
  const busy = new Map([
    ['a', 2],
    ['b', 1],
    ['c', 0],
  ]);
  const start = () => {
    const taken = take((path) => busy.get(path) ?? 0);
    if (taken) busy.set(taken.charAt(0), (busy.get(taken.charAt(0)) ?? 0) + 1);
    return taken;
  };
  assert.deepEqual([start(), start(), start(), start(), start()], ['c1', 'b1', 'a1', 'b2', undefined]);
  busy.set('a', 0);
  assert.equal(start(), 'a2');
});

test('a read that is given up leaves its line, and its store the turns', () => {
  const { lines, reads, take } = linesOf('a1 a2 b1');
  for (const at of [0, 2]) lines.remove(reads[at] as (typeof reads)[number]);
  assert.deepEqual([take(), take()], ['a2', undefined]);
  lines.add(read('c1'));
  assert.deepEqual(
    lines.clear().map(({ name }) => name),
    ['c1'],
  );
});
