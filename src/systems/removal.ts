import { setTimeout as wait } from 'node:timers/promises';
import type { Engine } from '../storage/engine.ts';
import { UsedSinceRemoval } from '../storage/identity.ts';
import type { Registry } from '../storage/registry.ts';

/** Milliseconds in which a process that closes a store has told the registry of the generation that it left it with. */
const CLOSING_BOUND_MS = 5_000;
const AGAIN_MS = 100;

/**
 * Removes the store of a system that the registry removed. Processes that served it close it at about the same time, each in a new generation
 * of which the registry hears a moment later.
 * @throws what `Engine.remove` throws; UsedSinceRemoval where the registry does not hear of it
 */
export async function removeStore(registry: Registry, engine: Engine, appId: string): Promise<void> {
  for (const deadline = performance.now() + CLOSING_BOUND_MS; ; await wait(AGAIN_MS)) {
    const known = await registry.storeOf(appId);
    if (!known) return;
    try {
      return await engine.remove(appId, known);
    } catch (error) {
      if (!(error instanceof UsedSinceRemoval) || performance.now() > deadline) throw error;
    }
  }
}
