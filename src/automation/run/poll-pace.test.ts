import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { System } from '../../systems/index.ts';
import { PollPace } from './poll-pace.ts';

const systemOf = (noticesAllWrites: boolean) => ({ uses: 0, store: { cluster: { noticesAllWrites } } });

test('a system that is used is polled each time, one that is not every five seconds', ({ mock }) => {
  let clock = 0;
  mock.method(performance, 'now', () => clock);
  const system = systemOf(true);
  const pace = new PollPace();
  const polled: number[] = [];
  for (; clock < 30_000; clock += 1_000) {
    if (clock === 14_000) system.uses++;
    for (const _ of pace.due([system as unknown as System])) polled.push(clock);
  }
  assert.deepEqual(polled, [0, 5_000, 10_000, 14_000, 19_000, 24_000, 29_000]);
});

test('a system whose writes are not all noticed is polled each time', () => {
  const system = systemOf(false) as unknown as System;
  const pace = new PollPace();
  assert.deepEqual([...pace.due([system]), ...pace.due([system])], [system, system]);
});
