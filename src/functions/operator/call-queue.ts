import { FairQueue } from '../../admission/fair-queue.ts';
import { memoByObject } from '../../kernel/memo.ts';
import { networkOf } from '../../kernel/network.ts';
import type { Store } from '../../storage/port.ts';
import type { FunctionRequest } from '../model.ts';

/** Calls of requests that a system runs at a time, and that wait for their turn. What triggers call is bounded by their queue. */
const bounds = { atOnce: 64, waiting: 1_000 };

const queueOf = memoByObject<Store, FairQueue>(() => new FairQueue(bounds));

/**
 * Runs a call in its turn: anybody may call, as often as he likes, and each call may have many records in memory. Networks take turns, and of too
 * many calls that wait the last one of the network with most of them is refused. No system waits for another one's calls.
 * @throws unavailable (503) where too many wait
 */
export function queueCall<T>(store: Store, { ip }: FunctionRequest, call: () => Promise<T>): Promise<T> {
  return queueOf(store).run({ system: store, caller: networkOf(ip) }, call);
}
