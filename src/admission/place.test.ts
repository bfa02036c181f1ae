import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Place } from './place.ts';
import { Places } from './places.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

const places = new Places({ all: 4, ofSystem: 3, ofCaller: 2 });

/** Runs a request whose place is freed before or after its body is complete. @returns the request it held */
function pass(steps: readonly ('ended' | 'free')[]): WeakRef<object> {
  const request = { body: 'x'.repeat(1_000) };
  const place = places.ask({ system: 'a', caller: 'x' });
  place.taken.catch(() => request.body);
  for (const step of steps) place[step]();
  return new WeakRef(request);
}

for (const steps of [
  ['ended', 'free'],
  ['free', 'ended'],
  ['ended', 'free', 'free'],
] as const)
  test(`a request is let go as soon as its place is free: ${steps.join(', ')}`, async () => {
    const held = pass(steps);
    await new Promise((resolve) => setTimeout(resolve, 10));
    collectGarbage();
    assert.equal(held.deref(), undefined);
  });

test('the place of a whole body is kept until its request is answered, and given to nobody who waits before', ({ mock }) => {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const room = new Places({ all: 4, ofSystem: 3, ofCaller: 2 });
  const [first, second, other] = [2, 2, 1].map((size) => room.ask({ system: 'a', caller: size === 1 ? 'y' : 'x' }, size)) as [
    Place,
    Place,
    Place,
  ];
  const response = new Answer();
  response.headersSent = false;
  first.freeWhenAnswered(response.asServerResponse());
  // The body is complete, and waits for room among the values.
  for (const place of [first, second, other]) place.ended();
  mock.timers.tick(600_000);
  assert.deepEqual([first.isGiven, second.isGiven, other.isGiven], [true, false, true]);
  response.emit('prefinish');
  assert.equal(second.isGiven, true);
});

test('who has gone before he asks has no place', () => {
  const room = new Places({ all: 4, ofSystem: 3, ofCaller: 2 });
  const gone = new Answer();
  gone.destroy();
  const place = room.ask({ system: 'a', caller: 'x' }, 2);
  place.freeWhenAnswered(gone.asServerResponse());
  place.ended();
  assert.equal(room.ask({ system: 'a', caller: 'x' }, 2).isGiven, true);
});

test('an answer that its client does not take loses the connection where others wait for the place of its body', ({ mock }) => {
  mock.timers.enable({ apis: ['setInterval'] });
  const room = new Places({ all: 4, ofSystem: 4, ofCaller: 2 }, 1_000);
  const answers = [new Answer(), new Answer(), new Answer(), new Answer()] as const;
  const [, running, taking, taken] = answers;
  answers.forEach((response, at) => {
    const place = room.ask({ system: 'a', caller: `${at}` });
    place.freeWhenAnswered(response.asServerResponse());
    place.ended();
  });
  running.headersSent = false;
  taken.socket.writableLength = 0;
  mock.timers.tick(60_000);
  assert.deepEqual(
    answers.map(({ destroyed }) => destroyed),
    [false, false, false, false],
  );
  const next = room.ask({ system: 'a', caller: 'next' }, 2);
  for (let second = 0; second < 5; second++) {
    taking.socket.bytesWritten += 64 * 1024;
    mock.timers.tick(1_000);
  }
  assert.deepEqual(
    answers.map(({ destroyed }) => destroyed),
    [true, false, false, false],
  );
  assert.equal(next.isGiven, false);
  taken.emit('prefinish');
  assert.equal(next.isGiven, true);
});

/** A response with bytes waiting for the client. */
class Answer extends EventEmitter {
  headersSent = true;
  destroyed = false;
  readonly socket = { bytesWritten: 0, writableLength: 1_000_000 };

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }

  asServerResponse(): ServerResponse {
    return this as unknown as ServerResponse;
  }
}
