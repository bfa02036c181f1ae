import { LRUCache } from 'lru-cache';
import type { Store } from '../../storage/port.ts';

/** Maximum level of a chain. Reference: triggers.md#chain-depth. */
export const MAX_DEPTH = 3;
/** Maximum number of actions that one client write causes, on all levels. Reference: triggers.md#chain-depth. */
export const MAX_ACTIONS = 10_000;
/** Chains remembered per system: the most recently active ones. */
const MAX_CHAINS = 20_000;

/** Action counts by chain. Each chain is processed by one process, unless that process ends. */
const countsOf = new WeakMap<Store, LRUCache<string, number>>();

/** Log message for a trigger beyond the maximum level. The spelling is part of the interface (triggers.md#trigger-log). */
export const tooDeepMessage = (source: string): string => `blocked! trigger step is to deep -3. source trigger: ${source}`;

/** Log message, written once, for a chain that has used up its actions. */
export const spentMessage = (source: string): string =>
  `blocked! one write brings about more than ${MAX_ACTIONS.toLocaleString('en')} actions. source trigger: ${source}`;

/** Whether a chain has exceeded its actions; the rest of it is skipped. */
export function isSpent(store: Store, chain: string): boolean {
  return (countsOf.get(store)?.get(chain) ?? 0) > MAX_ACTIONS;
}

/** Uncounts an action that must be started again, because it is counted then. */
export function refund(store: Store, chain: string): void {
  const counts = countsOf.get(store);
  const count = counts?.get(chain) ?? 0;
  if (count > 0) counts?.set(chain, count - 1);
}

/** Counts an action of a chain. @returns `logged`: the action is over the limit, and that has been logged already */
export function spend(store: Store, chain: string): 'counted' | 'first beyond' | 'logged' {
  const counts = countsOf.get(store) ?? new LRUCache<string, number>({ max: MAX_CHAINS });
  countsOf.set(store, counts);
  const count = (counts.get(chain) ?? 0) + 1;
  counts.set(chain, count);
  if (count <= MAX_ACTIONS) return 'counted';
  return count === MAX_ACTIONS + 1 ? 'first beyond' : 'logged';
}
