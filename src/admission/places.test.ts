import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import type { Place } from './place.ts';
import { Places } from './places.ts';

let places: Places;
beforeEach(() => {
  mock.timers.enable({ apis: ['setInterval'] });
  places = new Places({ all: 4, ofSystem: 3, ofCaller: 2 }, 1_000);
});
afterEach(() => mock.timers.reset());

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
const ask = (system: string, caller: string) => places.ask({ system, caller: `${system} ${caller}` });

/** Records the state of a place. */
function watch(place: Place): { given: boolean; taken: unknown } {
  const state = { given: false, taken: undefined as unknown };
  place.given.then(() => {
    state.given = true;
  });
  place.taken.catch((error: unknown) => {
    state.taken = error;
  });
  return state;
}
async function given(...asked: readonly Place[]): Promise<boolean[]> {
  const states = asked.map(watch);
  await settled();
  return states.map((state) => state.given);
}

test('of four places a caller has two at most, a system three', async () => {
  const asked = [ask('a', 'x'), ask('a', 'x'), ask('a', 'x'), ask('a', 'y'), ask('a', 'z'), ask('b', 'x'), ask('c', 'x')];
  assert.deepEqual(await given(...asked), [true, true, false, true, false, true, false]);
});

test('a place that is free goes to who has the fewest, then to who had none the longest', async () => {
  const held = [ask('a', 'x'), ask('a', 'x'), ask('b', 'x'), ask('b', 'y')] as const;
  const waiting = [ask('a', 'x'), ask('b', 'y'), ask('b', 'z'), ask('c', 'x'), ask('d', 'x')] as const;
  assert.deepEqual(await given(...waiting), [false, false, false, false, false]);
  const order: number[] = [];
  waiting.forEach(({ given }, at) => void given.then(() => order.push(at)));
  for (const place of [...held, waiting[3], waiting[4]]) {
    place.free();
    await settled();
  }
  assert.deepEqual(order, [3, 4, 0, 2, 1]);
});

test('who had a place comes after who had none yet, however many he asks for', async () => {
  const first = ['x', 'y', 'z'].map((caller) => ask('a', caller));
  const more = ['x', 'y', 'z', 'x', 'y', 'z'].map((caller) => ask('a', caller));
  const other = ask('a', 'other');
  first[1]?.free();
  assert.deepEqual(await given(...more, other), [false, false, false, false, false, false, true]);
  first[0]?.free();
  first[2]?.free();
  assert.deepEqual(await given(...more, other), [true, true, false, false, false, false, true]);
});

test('who leaves while he waits is passed over; a place that is freed twice counts once', async () => {
  const held = [ask('a', 'x'), ask('b', 'x'), ask('c', 'x'), ask('d', 'x')];
  const [gone, next, last] = [ask('e', 'x'), ask('f', 'x'), ask('g', 'x')] as const;
  gone.free();
  held[0]?.free();
  held[0]?.free();
  gone.free();
  assert.deepEqual(await given(next, last), [true, false]);
});

test('a body that comes slowly loses its place where others wait: 408', async () => {
  const held = [ask('a', 'x'), ask('b', 'x'), ask('c', 'x'), ask('d', 'x')] as const;
  const [slow, fast, whole] = held;
  const states = held.map(watch);
  whole.ended();
  mock.timers.tick(60_000);
  await settled();
  assert.ok(states.every(({ taken }) => taken === undefined));
  const waiting = [ask('e', 'x'), ask('f', 'x'), ask('g', 'x')];
  slow.came(64 * 1024 - 1);
  for (const place of [fast, held[3]]) place.came(64 * 1024);
  mock.timers.tick(1_000);
  await settled();
  assert.deepEqual(
    states.map(({ taken }) => (taken as { status?: number } | undefined)?.status),
    [408, undefined, undefined, undefined],
  );
  assert.deepEqual(await given(...waiting), [true, false, false]);
  // A newly granted place has the whole interval.
  fast.came(64 * 1024);
  mock.timers.tick(1_000);
  assert.deepEqual(await given(...waiting), [true, true, false]);
  assert.equal((states[3]?.taken as { key?: string } | undefined)?.key, 'bodyTooSlow');
  mock.timers.tick(1_000);
  assert.deepEqual(await given(...waiting), [true, true, true]);
});

test('places of several sizes: the one who comes first is not passed over by smaller ones', async () => {
  const sized = new Places({ all: 100, ofSystem: 80, ofCaller: 60 }, 1_000);
  const ask = (caller: string, size: number, system = caller) => sized.ask({ system, caller }, size);
  const held = [ask('a', 50), ask('b', 40)] as const;
  assert.deepEqual(await given(...held), [true, true]);
  const [large, small] = [ask('c', 30), ask('d', 5)] as const;
  assert.deepEqual(await given(large, small), [false, false]);
  held[1].free();
  assert.deepEqual(await given(large, small), [true, true]);
  // A size beyond the share of one caller is granted when the caller holds nothing else.
  held[0].free();
  large.free();
  assert.deepEqual(await given(ask('e', 1_000)), [true]);
});

test('a slow body is ended for who has less, and for who waits for himself only his own', async () => {
  const sized = new Places({ all: 100, ofSystem: 100, ofCaller: 60 }, 1_000);
  const ask = (caller: string, size: number) => sized.ask({ system: 'a', caller }, size);
  const [slow, greedy] = [ask('slow', 10), ask('greedy', 60)] as const;
  const states = [slow, greedy].map(watch);
  // The caller's share is used up; no other caller is in its way.
  const more = ask('greedy', 10);
  mock.timers.tick(1_000);
  await settled();
  assert.deepEqual(
    states.map(({ taken }) => taken !== undefined),
    [false, true],
  );
  assert.deepEqual(await given(more), [true]);
  // A caller that holds more than the slow one waits; one that holds nothing does not.
  const other = ask('greedy', 50);
  assert.deepEqual(await given(other), [true]);
  const third = ask('third', 30);
  await settled();
  assert.deepEqual(await given(third), [true]);
  const rich = ask('third', 30);
  const comeOn = () => {
    for (const place of [more, other, third]) place.came(1_000_000);
  };
  comeOn();
  mock.timers.tick(1_000);
  await settled();
  assert.equal(states[0]?.taken, undefined);
  const poor = ask('poor', 10);
  comeOn();
  mock.timers.tick(1_000);
  await settled();
  assert.notEqual(states[0]?.taken, undefined);
  assert.deepEqual(await given(rich, poor), [false, true]);
});
