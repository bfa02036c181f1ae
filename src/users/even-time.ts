import { setTimeout as wait } from 'node:timers/promises';
import { fail } from '../errors/fail.ts';
import { memoByObject } from '../kernel/memo.ts';
import type { Store } from '../storage/port.ts';
import { isAway } from '../storage/recovery.ts';

/** Times that are remembered for each system: enough for how they differ, few enough to follow the load. */
const MAX_TIMES = 32;
/** Milliseconds. One commit that was held up is not to hold up others long after. */
const MAX_TIME_MS = 1_000;

/** How long the last commits that counted an attempt took, in milliseconds. */
const commitTimes = memoByObject<Store, number[]>(() => []);

/** Remembers how long a commit that counts an attempt takes, whatever comes of it. */
export async function timed<T>(store: Store, commit: () => Promise<T>): Promise<T> {
  const began = performance.now();
  try {
    return await commit();
  } finally {
    const times = commitTimes(store);
    times.push(Math.min(MAX_TIME_MS, performance.now() - began));
    if (times.length > MAX_TIMES) times.shift();
  }
}

/**
 * Takes as long as a commit that counts an attempt, where nothing is to be counted: one of the times it took lately, drawn by lot, so that
 * neither their middle nor their spread tells the two apart. Nor does a store that takes no writes for now.
 * @throws unavailable
 */
export async function pretendCommit(store: Store): Promise<void> {
  const times = commitTimes(store);
  const time = times[Math.floor(Math.random() * times.length)] ?? 0;
  // Timers count whole milliseconds.
  await wait(Math.floor(time + Math.random()));
  if (await isAway(store)) fail('unavailable');
}
