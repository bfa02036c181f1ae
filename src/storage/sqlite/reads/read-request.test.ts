import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { StallAllowance } from '../../../kernel/stall-allowance.ts';
import { ReadRequest } from './read-request.ts';

/** Returns an answer of many chunks, and whether its thread was told to end it. */
function longAnswer(pauses: StallAllowance) {
  const task = new ReadRequest('a', { list: null, count: null, removals: 0 }, async () => null, 10_000, pauses);
  let isCancelled = false;
  task.onCancelled = () => {
    isCancelled = true;
  };
  task.started();
  for (let n = 0; n < 100; n++) task.piece('x');
  return { task, isCancelled: () => isCancelled };
}

async function take(task: ReadRequest, pieces: number, pause: number): Promise<void> {
  const { results } = await task.result;
  const answer = (results as AsyncIterable<string>)[Symbol.asyncIterator]();
  for (let n = 0; n < pieces; n++) {
    await answer.next();
    await wait(pause);
  }
}

test('a client who takes a piece now and then is given up once their pauses are over', async () => {
  const { task, isCancelled } = longAnswer(new StallAllowance(60_000, 300));
  await take(task, 20, 30);
  assert.equal(isCancelled(), true);
});

test('a client who reads on is not', async () => {
  const { task, isCancelled } = longAnswer(new StallAllowance(60_000, 5_000));
  await take(task, 90, 1);
  assert.equal(isCancelled(), false);
});
