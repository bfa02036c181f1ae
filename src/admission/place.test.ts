import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Places } from './places.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

const places = new Places({ all: 4, ofSystem: 3, ofCaller: 2 });

/** A request whose place is free before, or after, its body is whole. @returns what it held */
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

test('the place of a whole body is free after a minute, however long its answer takes', async ({ mock }) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const first = places.ask({ system: 'a', caller: 'x' }, 2);
  const second = places.ask({ system: 'a', caller: 'x' });
  first.ended();
  mock.timers.tick(59_999);
  assert.equal(second.isGiven, false);
  mock.timers.tick(1);
  assert.equal(second.isGiven, true);
});
