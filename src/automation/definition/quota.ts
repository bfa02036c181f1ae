import { LRUCache } from 'lru-cache';
import type { JsonObject } from '../../kernel/json.ts';
import type { Store } from '../../storage/port.ts';
import { refuse } from './assertions.ts';
import { sizeOf } from './definition.ts';
import { activeTriggers } from './trigger-cache.ts';

/** Definitions of a system, and their characters together: all of them are kept in memory. */
const MAX_DEFINITIONS = 1_000;
const MAX_DEFINITIONS_LENGTH = 20_000_000;
/** Milliseconds after which a definition that was judged is known, or was never stored. */
const PENDING_MS = 5_000;

/** The sizes of definitions that were judged lately, by id: many at once do not each find the same room. */
const pendingOf = new WeakMap<Store, LRUCache<string, number>>();

/**
 * Insists that a system has room for a definition, beside those that are there and those that are about to be (docs/decisions.md "Triggers").
 * One that takes no more than it did before always has.
 * @param before the row that it replaces; `null` for a definition to be
 * @throws invalidTrigger (107)
 */
export function checkRoom(store: Store, objectId: string, definition: JsonObject, before: JsonObject | null): void {
  const size = sizeOf(definition);
  const known = activeTriggers.sizes(store);
  const pending = pendingOf.get(store) ?? new LRUCache<string, number>({ max: 2 * MAX_DEFINITIONS, ttl: PENDING_MS });
  pendingOf.set(store, pending);
  if (before === null || size > sizeOf(before)) {
    let [count, characters] = [1, size];
    for (const [id, entry] of known ?? []) {
      if (id === objectId) continue;
      const waiting = pending.get(id) ?? 0;
      // It is stored.
      if (waiting === entry.size) pending.delete(id);
      count++;
      characters += Math.max(entry.size, waiting);
    }
    for (const [id, waiting] of pending.entries()) {
      if (id === objectId || known?.has(id)) continue;
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

/** A definition is about to be deleted: it takes no room. */
export function leaveRoom(store: Store, objectId: string): void {
  pendingOf.get(store)?.delete(objectId);
}
