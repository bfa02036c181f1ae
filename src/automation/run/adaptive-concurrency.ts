import pLimit, { type LimitFunction } from 'p-limit';
import { FairQueue } from '../../admission/fair-queue.ts';
import { memoByObject } from '../../kernel/memo.ts';
import type { Store } from '../../storage/port.ts';

/**
 * Actions a second that a system is to manage however busy its clients are. Actions share commits with what clients write: fewer at a time
 * leave clients more where many write at once, and the queue grows for a while; where few write, commits follow each other quickly.
 */
const TARGET_ACTIONS_PER_SECOND = 600;
/** Actions that write at the same time, at the least and at the most. */
const CONCURRENCY = { least: 6, most: 64 };
/** Milliseconds after its write from which on an action is late: then as many are done at a time as can be. */
const LATE_AFTER_MS = 3_000;
/** The weight of the last action in the mean of their times. */
const MEAN_WEIGHT = 1 / 64;

/**
 * Of all systems together: one of each in turn, so that none waits for what another one has queued; and one of each at any time, whatever
 * the actions of others wait for.
 */
const ofAll = new FairQueue({ concurrency: CONCURRENCY.most, guaranteedPerSystem: 1, maxWaiting: Number.POSITIVE_INFINITY });

interface Share {
  readonly limit: LimitFunction;
  /** How long an action takes, in milliseconds: mostly its commit, by which disks differ a hundredfold. */
  mean: number;
}

const shareOf = memoByObject<Store, Share>(() => ({ limit: pLimit(CONCURRENCY.least), mean: 0 }));

/**
 * Does work that writes, in its turn among that of its system, and of all: so many at a time as it takes for the rate.
 * @param since when it was queued, in milliseconds since 1970
 */
export function withAdaptiveLimit(store: Store, since: number, work: () => Promise<void>): Promise<void> {
  const share = shareOf(store);
  const turn = { system: store, caller: '' };
  return share.limit(() => ofAll.run(turn, () => timed(share, since, work)));
}

async function timed(share: Share, since: number, work: () => Promise<void>): Promise<void> {
  const began = performance.now();
  const isLate = Date.now() - since > LATE_AFTER_MS;
  try {
    await work();
  } finally {
    share.mean += (performance.now() - began - share.mean) * MEAN_WEIGHT;
    const wanted = isLate ? CONCURRENCY.most : Math.ceil((TARGET_ACTIONS_PER_SECOND * share.mean) / 1000);
    share.limit.concurrency = Math.max(CONCURRENCY.least, Math.min(CONCURRENCY.most, wanted));
  }
}
