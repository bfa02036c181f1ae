import pLimit, { type LimitFunction } from 'p-limit';
import { FairQueue } from '../../admission/fair-queue.ts';
import { memoByObject } from '../../kernel/memo.ts';
import type { Store } from '../../storage/port.ts';

/**
 * Rate of actions that each system must reach even if its clients are busy. Actions share commits with client writes: lower concurrency leaves more
 * room for clients when many write at once (the queue grows for a while), and when few write, commits follow each other quickly anyway.
 */
const TARGET_ACTIONS_PER_SECOND = 600;
/** Limits for concurrent writing actions. */
const CONCURRENCY = { min: 6, max: 64 };
/** Delay after its write from which an action counts as late; late actions run at full concurrency. */
const LATE_AFTER_MS = 3_000;
/** Weight of the latest action in the moving mean of durations. */
const MEAN_WEIGHT = 1 / 64;

/**
 * Shared by all systems: scheduled round-robin, so that no system waits for the queue of another, with one guaranteed slot per system, whatever the
 * actions of others wait for.
 */
const globalQueue = new FairQueue({ concurrency: CONCURRENCY.max, guaranteedPerSystem: 1, maxWaiting: Number.POSITIVE_INFINITY });

interface Share {
  readonly limit: LimitFunction;
  /** Mean duration of an action in milliseconds: mostly its commit, whose duration differs a hundredfold between disks. */
  mean: number;
}

const shareOf = memoByObject<Store, Share>(() => ({ limit: pLimit(CONCURRENCY.min), mean: 0 }));

/**
 * Runs a writing action with adaptive concurrency: per system as many at once as the target rate needs, and in fair turns among systems.
 * @param since when the action was queued, in milliseconds since 1970
 */
export function withAdaptiveLimit(store: Store, since: number, work: () => Promise<void>): Promise<void> {
  const share = shareOf(store);
  const turn = { system: store, caller: '' };
  return share.limit(() => globalQueue.run(turn, () => timed(share, since, work)));
}

async function timed(share: Share, since: number, work: () => Promise<void>): Promise<void> {
  const began = performance.now();
  const isLate = Date.now() - since > LATE_AFTER_MS;
  try {
    await work();
  } finally {
    share.mean += (performance.now() - began - share.mean) * MEAN_WEIGHT;
    const wanted = isLate ? CONCURRENCY.max : Math.ceil((TARGET_ACTIONS_PER_SECOND * share.mean) / 1000);
    share.limit.concurrency = Math.max(CONCURRENCY.min, Math.min(CONCURRENCY.max, wanted));
  }
}
