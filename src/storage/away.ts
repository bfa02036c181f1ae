import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Store } from './port.ts';

/** Whether a store is known to be away: it met a fault that can pass, and has not been seen to work since. */
export function isAway(store: Pick<Store, 'whenBack'>): Promise<boolean> {
  const back = store.whenBack().then(() => false);
  // One of which no fault is known answers before the next turn.
  return Promise.race([back, nextTurn(true)]);
}
