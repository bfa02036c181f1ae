import type { Engine } from '../../storage/engine.ts';
import type { Store } from '../../storage/port.ts';
import { openAnyway } from '../../storage/testing/open.ts';
import { migrate } from '../migrations/index.ts';

/** Opens a store as a service does, but without a registry, creating it if necessary, for unit tests. */
export async function openMigrated(engine: Engine, appId: string): Promise<Store> {
  const store = await openAnyway(engine, appId);
  await migrate(store, appId);
  return store;
}
