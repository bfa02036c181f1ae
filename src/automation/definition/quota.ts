import { LRUCache } from 'lru-cache';
import type { JsonObject } from '../../kernel/json.ts';
import type { Store } from '../../storage/port.ts';
import { refuse } from './assertions.ts';
import { sizeOf } from './definition.ts';
import { activeTriggers } from './trigger-cache.ts';

/** Limits per system for the number of definitions and their total length in characters, because all of them are kept in memory. */
export const MAX_DEFINITIONS = 1_000;
export const MAX_DEFINITIONS_LENGTH = 20_000_000;
/** Time after which a checked definition is either in the cache or was never stored. */
const PENDING_MS = 5_000;

/** Sizes of recently checked definitions by id, so that concurrent writes do not each use the same remaining quota. */
const pendingOf = new WeakMap<Store, LRUCache<string, number>>();

/**
 * Asserts that a definition fits into the system's quota, together with the stored ones and those being written. A definition that does not grow is
 * always accepted.
 * Reference: limits.md#triggers.
 * @param before the row that it replaces; `null` for a new definition
 * @throws invalidTrigger (107)
 */
export function checkQuota(store: Store, objectId: string, definition: JsonObject, before: JsonObject | null): void {
  const size = sizeOf(definition);
  const stored = activeTriggers.sizes(store);
  const pending = pendingOf.get(store) ?? new LRUCache<string, number>({ max: 2 * MAX_DEFINITIONS, ttl: PENDING_MS });
  pendingOf.set(store, pending);
  if (before === null || size > sizeOf(before)) {
    let [count, characters] = [1, size];
    for (const [id, entry] of stored ?? []) {
      if (id === objectId) continue;
      const waiting = pending.get(id) ?? 0;
      // The pending definition is stored by now.
      if (waiting === entry.size) pending.delete(id);
      count++;
      characters += Math.max(entry.size, waiting);
    }
    for (const [id, waiting] of pending.entries()) {
      if (id === objectId || stored?.has(id)) continue;
      count++;
      characters += waiting;
    }
    if (before === null && count > MAX_DEFINITIONS)
      refuse(`a system has at most ${MAX_DEFINITIONS.toLocaleString('en')} triggers`);
    if (characters > MAX_DEFINITIONS_LENGTH)
      refuse(`the triggers of a system have at most ${MAX_DEFINITIONS_LENGTH.toLocaleString('en')} characters`);
  }
  pending.set(objectId, size);
}

/** Forgets the pending size of a definition that is being deleted. */
export function releaseQuota(store: Store, objectId: string): void {
  pendingOf.get(store)?.delete(objectId);
}
