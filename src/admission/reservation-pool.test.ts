import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import type { Reservation } from './reservation.ts';
import { ReservationPool } from './reservation-pool.ts';

let pool: ReservationPool;
beforeEach(() => {
  mock.timers.enable({ apis: ['setInterval'] });
  pool = new ReservationPool({ all: 4, ofSystem: 3, ofCaller: 2 }, 1_000);
});
afterEach(() => mock.timers.reset());

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
const request = (system: string, caller: string) => pool.request({ system, caller: `${system} ${caller}` });

/** Records the state of a reservation. */
function watch(reservation: Reservation): { granted: boolean; revoked: unknown } {
  const state = { granted: false, revoked: undefined as unknown };
  reservation.granted.then(() => {
    state.granted = true;
  });
  reservation.revoked.catch((error: unknown) => {
    state.revoked = error;
  });
  return state;
}
async function granted(...requested: readonly Reservation[]): Promise<boolean[]> {
  const states = requested.map(watch);
  await settled();
  return states.map((state) => state.granted);
}

test('of four places a caller has two at most, a system three', async () => {
  const requested = [
    request('a', 'x'),
    request('a', 'x'),
    request('a', 'x'),
    request('a', 'y'),
    request('a', 'z'),
    request('b', 'x'),
    request('c', 'x'),
  ];
  assert.deepEqual(await granted(...requested), [true, true, false, true, false, true, false]);
});

test('a place that is free goes to who has the fewest, then to who had none the longest', async () => {
  const held = [request('a', 'x'), request('a', 'x'), request('b', 'x'), request('b', 'y')] as const;
  const waiting = [request('a', 'x'), request('b', 'y'), request('b', 'z'), request('c', 'x'), request('d', 'x')] as const;
  assert.deepEqual(await granted(...waiting), [false, false, false, false, false]);
  const order: number[] = [];
  waiting.forEach(({ granted }, at) => void granted.then(() => order.push(at)));
  for (const reservation of [...held, waiting[3], waiting[4]]) {
    reservation.release();
    await settled();
  }
  assert.deepEqual(order, [3, 4, 0, 2, 1]);
});

test('who had a place comes after who had none yet, however many they ask for', async () => {
  const first = ['x', 'y', 'z'].map((caller) => request('a', caller));
  const more = ['x', 'y', 'z', 'x', 'y', 'z'].map((caller) => request('a', caller));
  const other = request('a', 'other');
  first[1]?.release();
  assert.deepEqual(await granted(...more, other), [false, false, false, false, false, false, true]);
  first[0]?.release();
  first[2]?.release();
  assert.deepEqual(await granted(...more, other), [true, true, false, false, false, false, true]);
});

test('who leaves while they wait is passed over; a place that is freed twice counts once', async () => {
  const held = [request('a', 'x'), request('b', 'x'), request('c', 'x'), request('d', 'x')];
  const [gone, next, last] = [request('e', 'x'), request('f', 'x'), request('g', 'x')] as const;
  gone.release();
  held[0]?.release();
  held[0]?.release();
  gone.release();
  assert.deepEqual(await granted(next, last), [true, false]);
});

test('a body that comes slowly loses its place where others wait: 408', async () => {
  const held = [request('a', 'x'), request('b', 'x'), request('c', 'x'), request('d', 'x')] as const;
  const [slow, fast, whole] = held;
  const states = held.map(watch);
  whole.completed();
  mock.timers.tick(60_000);
  await settled();
  assert.ok(states.every(({ revoked }) => revoked === undefined));
  const waiting = [request('e', 'x'), request('f', 'x'), request('g', 'x')];
  slow.received(64 * 1024 - 1);
  for (const reservation of [fast, held[3]]) reservation.received(64 * 1024);
  mock.timers.tick(1_000);
  await settled();
  assert.deepEqual(
    states.map(({ revoked }) => (revoked as { status?: number } | undefined)?.status),
    [408, undefined, undefined, undefined],
  );
  assert.deepEqual(await granted(...waiting), [true, false, false]);
  // A newly granted reservation has the whole interval.
  fast.received(64 * 1024);
  mock.timers.tick(1_000);
  assert.deepEqual(await granted(...waiting), [true, true, false]);
  assert.equal((states[3]?.revoked as { key?: string } | undefined)?.key, 'bodyTooSlow');
  mock.timers.tick(1_000);
  assert.deepEqual(await granted(...waiting), [true, true, true]);
});

test('places of several sizes: the one who comes first is not passed over by smaller ones', async () => {
  const sized = new ReservationPool({ all: 100, ofSystem: 80, ofCaller: 60 }, 1_000);
  const request = (caller: string, size: number, system = caller) => sized.request({ system, caller }, size);
  const held = [request('a', 50), request('b', 40)] as const;
  assert.deepEqual(await granted(...held), [true, true]);
  const [large, small] = [request('c', 30), request('d', 5)] as const;
  assert.deepEqual(await granted(large, small), [false, false]);
  held[1].release();
  assert.deepEqual(await granted(large, small), [true, true]);
  // A size beyond the share of one caller is granted when the caller holds nothing else.
  held[0].release();
  large.release();
  assert.deepEqual(await granted(request('e', 1_000)), [true]);
});

test('a slow body is ended for who has less, and for who waits for themselves only their own', async () => {
  const sized = new ReservationPool({ all: 100, ofSystem: 100, ofCaller: 60 }, 1_000);
  const request = (caller: string, size: number) => sized.request({ system: 'a', caller }, size);
  const [slow, greedy] = [request('slow', 10), request('greedy', 60)] as const;
  const states = [slow, greedy].map(watch);
  // The caller's share is used up; no other caller is in its way.
  const more = request('greedy', 10);
  mock.timers.tick(1_000);
  await settled();
  assert.deepEqual(
    states.map(({ revoked }) => revoked !== undefined),
    [false, true],
  );
  assert.deepEqual(await granted(more), [true]);
  // A caller that holds more than the slow one waits; one that holds nothing does not.
  const other = request('greedy', 50);
  assert.deepEqual(await granted(other), [true]);
  const third = request('third', 30);
  await settled();
  assert.deepEqual(await granted(third), [true]);
  const rich = request('third', 30);
  const comeOn = () => {
    for (const reservation of [more, other, third]) reservation.received(1_000_000);
  };
  comeOn();
  mock.timers.tick(1_000);
  await settled();
  assert.equal(states[0]?.revoked, undefined);
  const poor = request('poor', 10);
  comeOn();
  mock.timers.tick(1_000);
  await settled();
  assert.notEqual(states[0]?.revoked, undefined);
  assert.deepEqual(await granted(rich, poor), [false, true]);
});
