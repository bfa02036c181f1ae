import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { LoopShare } from './loop-share.ts';

let now = 0;
let turn: (() => void) | undefined;
let share: LoopShare;
beforeEach(() => {
  now = 0;
  turn = undefined;
  share = new LoopShare({ maxMsPerTurn: 5, clock: () => now, afterTurn: (turned) => (turn = turned) });
});

const turned = async () => {
  const before = turn;
  turn = undefined;
  before?.();
  await new Promise(setImmediate);
};
const work = (length: number) => share.spend(() => (now += length));

test('pieces go on at once until the share of a turn is used up, and again in the next', async () => {
  await share.waitForTurn('a');
  work(3);
  await share.waitForTurn('a');
  share.charge(2);
  assert.equal(share.isSpent, true);
  let isGoingOn = false;
  const waiting = share.waitForTurn('a').then(() => {
    isGoingOn = true;
  });
  await new Promise(setImmediate);
  assert.equal(isGoingOn, false);
  await turned();
  await waiting;
  assert.equal(share.isSpent, false);
  await share.waitForTurn('a');
});

test('work that fails counts', () => {
  assert.throws(() =>
    share.spend(() => {
      now += 9;
      throw new Error('no');
    }),
  );
  assert.equal(share.isSpent, true);
});

test('one goes on at a turn, of each system in turn, whatever the others have waiting', async () => {
  work(5);
  const order: string[] = [];
  for (const name of ['a1', 'a2', 'a3', 'b1', 'c1']) void share.waitForTurn(name[0]).then(() => order.push(name));
  while (turn) await turned();
  assert.deepEqual(order, ['a1', 'b1', 'c1', 'a2', 'a3']);
});
