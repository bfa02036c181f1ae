import pLimit, { type LimitFunction } from 'p-limit';
import { FairQueue } from '../../admission/fair-queue.ts';
import { memoByObject } from '../../kernel/memo.ts';
import type { Store } from '../../storage/port.ts';

/**
 * Actions a second that a system is to manage however busy its clients are. Actions share commits with what clients write: fewer at a time
 * leave clients more where many write at once, and the queue grows for a while; where few write, commits follow each other quickly.
 */
const PER_SECOND = 600;
/** Actions that write at the same time, at the least and at the most. */
const AT_ONCE = { least: 6, most: 64 };
/** Milliseconds after its write from which on an action is late: then as many are done at a time as can be. */
const LATE = 3_000;
/** The weight of the last action in the mean of their times. */
const WEIGHT = 1 / 64;

/**
 * Of all systems together: one of each in turn, so that none waits for what another one has queued; and one of each at any time, whatever
 * the actions of others wait for.
 */
const ofAll = new FairQueue({ atOnce: AT_ONCE.most, ownAtOnce: 1, waiting: Number.POSITIVE_INFINITY });

interface Share {
  readonly limit: LimitFunction;
  /** How long an action takes, in milliseconds: mostly its commit, by which disks differ a hundredfold. */
  mean: number;
}

const shareOf = memoByObject<Store, Share>(() => ({ limit: pLimit(AT_ONCE.least), mean: 0 }));

/**
 * Does work that writes, in its turn among that of its system, and of all: so many at a time as it takes for the rate.
 * @param since when it was queued, in milliseconds since 1970
 */
export function inShare(store: Store, since: number, work: () => Promise<void>): Promise<void> {
  const share = shareOf(store);
  const turn = { system: store, caller: '' };
  return share.limit(() => ofAll.run(turn, () => timed(share, since, work)));
}

async function timed(share: Share, since: number, work: () => Promise<void>): Promise<void> {
  const began = performance.now();
  const isLate = Date.now() - since > LATE;
  try {
    await work();
  } finally {
    share.mean += (performance.now() - began - share.mean) * WEIGHT;
    const wanted = isLate ? AT_ONCE.most : Math.ceil((PER_SECOND * share.mean) / 1000);
    share.limit.concurrency = Math.max(AT_ONCE.least, Math.min(AT_ONCE.most, wanted));
  }
}
