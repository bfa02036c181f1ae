import type { Engine, PendingRows } from '../storage/engine.ts';
import type { Registry, SystemEntry } from '../storage/registry.ts';
import { newestVersion } from './migrations/index.ts';
import type { System } from './system.ts';

/** Systems that are looked at together. */
const BATCH_SIZE = 50;

/** A part of the search for work that processes have left in systems which may be closed. */
export interface SearchPart {
  /** What a system without such work has none of. */
  readonly rows: readonly PendingRows[];
  /** Looks for work in a system that the caller holds. Never rejects. */
  visit(system: System): Promise<void>;
}

/** Where systems are looked for. */
export interface SystemsSource {
  /** All that are in force. */
  readonly systems: readonly Pick<SystemEntry, 'appId' | 'id'>[];
  isOpen(appId: string): boolean;
  readonly registry: Pick<Registry, 'stores'>;
  readonly engine: Pick<Engine, 'atRest'>;
}

/**
 * Yields the systems that are open, those with any of the rows, and those that have to be opened for another reason: a migration, a store that the
 * registry does not know like this.
 * @throws unavailable
 */
export async function* systemsWith(
  wanted: readonly PendingRows[],
  { systems, isOpen, registry, engine }: SystemsSource,
): AsyncGenerator<string> {
  // By the id of the system: a removed one may have had the same application id.
  const stores = new Map((await registry.stores()).map((known) => [known.systemId, known]));
  for (let at = 0; at < systems.length; at += BATCH_SIZE) {
    const batch = systems.slice(at, at + BATCH_SIZE);
    const closed = batch.flatMap(({ appId, id }) => (isOpen(appId) ? [] : (stores.get(id) ?? [])));
    const atRest = await engine.atRest(closed, newestVersion, wanted);
    // One that was opened meanwhile may have got work by now.
    for (const { appId, id } of batch) if (isOpen(appId) || !atRest.has(id)) yield appId;
  }
}
