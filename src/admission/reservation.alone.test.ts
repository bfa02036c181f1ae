import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Reservation } from './reservation.ts';
import { ReservationPool } from './reservation-pool.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

const pool = new ReservationPool({ all: 4, ofSystem: 3, ofCaller: 2 });

/** Runs a request whose reservation is freed before or after its body is complete. @returns the request it held */
function pass(steps: readonly ('completed' | 'release')[]): WeakRef<object> {
  const request = { body: 'x'.repeat(1_000) };
  const reservation = pool.request({ system: 'a', caller: 'x' });
  reservation.revoked.catch(() => request.body);
  for (const step of steps) reservation[step]();
  return new WeakRef(request);
}

for (const steps of [
  ['completed', 'release'],
  ['release', 'completed'],
  ['completed', 'release', 'release'],
] as const)
  test(`a request is let go as soon as its place is free: ${steps.join(', ')}`, async () => {
    const held = pass(steps);
    await new Promise((resolve) => setTimeout(resolve, 10));
    collectGarbage();
    assert.equal(held.deref(), undefined);
  });

test('the place of a whole body is kept until its request is answered, and given to nobody who waits before', ({ mock }) => {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const room = new ReservationPool({ all: 4, ofSystem: 3, ofCaller: 2 });
  const [first, second, other] = [2, 2, 1].map((size) => room.request({ system: 'a', caller: size === 1 ? 'y' : 'x' }, size)) as [
    Reservation,
    Reservation,
    Reservation,
  ];
  const response = new Answer();
  response.headersSent = false;
  first.releaseWhenAnswered(response.asServerResponse());
  // The body is complete, and waits for room among the values.
  for (const reservation of [first, second, other]) reservation.completed();
  mock.timers.tick(600_000);
  assert.deepEqual([first.isGranted, second.isGranted, other.isGranted], [true, false, true]);
  response.emit('prefinish');
  assert.equal(second.isGranted, true);
});

test('who has gone before they ask has no place', () => {
  const room = new ReservationPool({ all: 4, ofSystem: 3, ofCaller: 2 });
  const gone = new Answer();
  gone.destroy();
  const reservation = room.request({ system: 'a', caller: 'x' }, 2);
  reservation.releaseWhenAnswered(gone.asServerResponse());
  reservation.completed();
  assert.equal(room.request({ system: 'a', caller: 'x' }, 2).isGranted, true);
});

test('an answer that its client does not take loses the connection where others wait for the place of its body', ({ mock }) => {
  mock.timers.enable({ apis: ['setInterval'] });
  const room = new ReservationPool({ all: 4, ofSystem: 4, ofCaller: 2 }, 1_000);
  const answers = [new Answer(), new Answer(), new Answer(), new Answer()] as const;
  const [, running, taking, taken] = answers;
  answers.forEach((response, at) => {
    const reservation = room.request({ system: 'a', caller: `${at}` });
    reservation.releaseWhenAnswered(response.asServerResponse());
    reservation.completed();
  });
  running.headersSent = false;
  taken.socket.writableLength = 0;
  mock.timers.tick(60_000);
  assert.deepEqual(
    answers.map(({ destroyed }) => destroyed),
    [false, false, false, false],
  );
  const next = room.request({ system: 'a', caller: 'next' }, 2);
  for (let second = 0; second < 5; second++) {
    taking.socket.bytesWritten += 64 * 1024;
    mock.timers.tick(1_000);
  }
  assert.deepEqual(
    answers.map(({ destroyed }) => destroyed),
    [true, false, false, false],
  );
  assert.equal(next.isGranted, false);
  taken.emit('prefinish');
  assert.equal(next.isGranted, true);
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
