import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { BufferedAnswers } from './buffered-answers.ts';

/** A response with bytes waiting for the client. */
class Answer extends EventEmitter {
  readonly headersSent = true;
  closed = false;
  readonly socket = { bytesWritten: 0, writableLength: 1 };
  destroyed = false;

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

let answers: BufferedAnswers;
const add = (caller: string, size: number) => {
  const answer = new Answer();
  answers.add(answer as unknown as ServerResponse, caller, size);
  return answer;
};
const cut = (...all: readonly Answer[]) => all.map(({ destroyed }) => destroyed);

test('where answers are too many, the oldest of the network with most is closed; what was taken does not count', () => {
  answers = new BufferedAnswers(100);
  const first = add('a', 30);
  const [many, more, last] = [add('b', 20), add('b', 20), add('b', 20)];
  assert.deepEqual(cut(first, many, more, last), [false, false, false, false]);
  const other = add('c', 20);
  assert.deepEqual(cut(first, many, more, last, other), [false, true, false, false, false]);
  more.emit('finish');
  add('c', 30);
  assert.deepEqual(cut(first, more, last, other), [false, false, false, false]);
});

test('who takes their answer keeps it while others do not take theirs, however much they have', ({ mock }) => {
  mock.timers.enable({ apis: ['setInterval'] });
  answers = new BufferedAnswers(100);
  const reading = add('a', 60);
  const stalled = [add('b', 20), add('c', 20)] as const;
  for (let time = 0; time < 3; time++) {
    reading.socket.bytesWritten += 5 * 64 * 1024;
    mock.timers.tick(5_000);
  }
  const next = add('d', 10);
  assert.deepEqual(cut(reading, ...stalled, next), [false, true, false, false]);
  const large = add('e', 500);
  assert.deepEqual(cut(reading, ...stalled, next, large), [true, true, true, true, false], 'one is sent whatever its size');
  large.emit('finish');
});

test('a client is slow from the second measure on, and one that has left is not counted', ({ mock }) => {
  mock.timers.enable({ apis: ['setInterval'] });
  answers = new BufferedAnswers(100);
  const gone = new Answer();
  gone.destroyed = true;
  answers.add(gone as unknown as ServerResponse, 'a', 90);
  const [steady, more] = [add('b', 45), add('b', 5)];
  mock.timers.tick(4_999);
  const fresh = add('c', 45);
  mock.timers.tick(1);
  // None is known to be slow: the oldest response of the network that holds most is closed.
  const next = add('d', 10);
  assert.deepEqual(cut(steady, more, fresh, next), [true, false, false, false]);
  mock.timers.tick(5_000);
  const last = add('e', 45);
  assert.deepEqual(cut(more, fresh, next, last), [false, true, false, false]);
});
