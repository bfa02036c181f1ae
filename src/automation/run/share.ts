import pLimit, { type LimitFunction } from 'p-limit';
import type { Store } from '../../storage/port.ts';

/**
 * Actions of a system that write at the same time. They share commits with what clients write: fewer of them leave clients more, where many
 * write at once, and the queue grows for a while; where few do, commits follow each other quickly, and the queue is as soon empty.
 */
const AT_ONCE = 8;

const shares = new WeakMap<Store, LimitFunction>();

/** Does work that writes, in its turn among that of its system. */
export function inShare<T>(store: Store, work: () => Promise<T>): Promise<T> {
  let share = shares.get(store);
  if (!share) {
    share = pLimit(AT_ONCE);
    shares.set(store, share);
  }
  return share(work);
}
