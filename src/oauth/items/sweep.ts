import { deleteExpired } from '../../audit/index.ts';
import type { Store } from '../../storage/port.ts';
import { itemTable } from './items.ts';

/**
 * Removes what has ended of sign-ins: codes, tokens, grants, sessions, and clients that registered and never came to a grant. What is moved on
 * meanwhile stays: a client is kept once it has a grant.
 * @param isEnough asked before each batch
 */
export const sweepItems = (store: Store, isEnough: () => boolean): Promise<void> =>
  deleteExpired(store, itemTable, Date.now(), isEnough);
