import { LRUCache } from 'lru-cache';
import type { Store } from '../../storage/port.ts';

/** SPEC "Limits": the level down to which a chain goes. */
export const MAX_DEPTH = 3;
/** Actions that one write of a client's brings about, at all levels (docs/decisions.md "Triggers"). */
const MAX_ACTIONS = 10_000;
/** Chains of a system that are remembered: those with actions most lately. */
const MAX_CHAINS = 20_000;

/** Actions by chain. All jobs of a chain are worked off by one process, unless that ends. */
const countsOf = new WeakMap<Store, LRUCache<string, number>>();

/** What the log says of a trigger beyond that level. SPEC "`_syslogTriggers` fields": the spelling is the server's. */
export const tooDeepMessage = (source: string): string => `blocked! trigger step is to deep -3. source trigger: ${source}`;

/** What the log says once of a chain that is spent, as it says it of one that is too deep. */
export const spentMessage = (source: string): string =>
  `blocked! one write brings about more than ${MAX_ACTIONS.toLocaleString('en')} actions. source trigger: ${source}`;

/** Whether a chain has had all its actions: what is left of it is not done. */
export function isSpent(store: Store, chain: string): boolean {
  return (countsOf.get(store)?.get(chain) ?? 0) > MAX_ACTIONS;
}

/** An action that was counted has to be begun again: it counts then. */
export function refund(store: Store, chain: string): void {
  const counts = countsOf.get(store);
  const count = counts?.get(chain) ?? 0;
  if (count > 0) counts?.set(chain, count - 1);
}

/** Counts an action of a chain. @returns `told`: it may not be done, and the log knows already */
export function spend(store: Store, chain: string): 'counted' | 'first beyond' | 'told' {
  const counts = countsOf.get(store) ?? new LRUCache<string, number>({ max: MAX_CHAINS });
  countsOf.set(store, counts);
  const count = (counts.get(chain) ?? 0) + 1;
  counts.set(chain, count);
  if (count <= MAX_ACTIONS) return 'counted';
  return count === MAX_ACTIONS + 1 ? 'first beyond' : 'told';
}
