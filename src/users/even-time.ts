import { setTimeout as wait } from 'node:timers/promises';
import { fail } from '../errors/fail.ts';
import { memoByObject } from '../kernel/memo.ts';
import type { Store } from '../storage/port.ts';
import { isAway } from '../storage/recovery.ts';

/** Number of commit times kept per system: enough for their spread, few enough to follow the load. */
const MAX_TIMES = 32;
/** Milliseconds. Bounds the effect of a single delayed commit on later logins. */
const MAX_TIME_MS = 1_000;

/** Durations of the last commits that counted an attempt, in milliseconds. */
const commitTimes = memoByObject<Store, number[]>(() => []);

/** Records the duration of a commit that counts an attempt, whatever its result. */
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
 * Waits as long as a commit that counts an attempt, if there is none to do: one of the recent durations, drawn at random, so that neither the
 * mean nor the spread distinguishes the two. Fails like a commit while the store takes no writes.
 * @throws unavailable
 */
export async function pretendCommit(store: Store): Promise<void> {
  const times = commitTimes(store);
  const time = times[Math.floor(Math.random() * times.length)] ?? 0;
  // Timers count whole milliseconds.
  await wait(Math.floor(time + Math.random()));
  if (await isAway(store)) fail('unavailable');
}
