import type { Engine } from '../storage/engine.ts';
import { knownOf, newBirth, type StoreIdentity, StoreRefused } from '../storage/identity.ts';
import type { Registry } from '../storage/registry.ts';
import { migrate } from './migrations/index.ts';
import { newEntry, refuse, type SystemCredentials } from './new-entry.ts';

/** A store to take in. */
export interface AdoptedSystem {
  readonly appId: string;
  /** The application id where it is left out. */
  readonly name?: string | undefined;
}

/**
 * Takes a store in that is there, with new keys, as a system of its own: no registry that knew it does so any more.
 * @throws AdministrationError where the application id is taken or the store was not made to its end; StoreRefused where there is none
 */
export async function adoptStore(registry: Registry, engine: Engine, { appId, name }: AdoptedSystem): Promise<SystemCredentials> {
  const { entry, key, credentials } = newEntry(registry.salt, { appId, name });
  const prepare = async () => {
    const { identity: found, state, place, isAlone = false } = await engine.inspect(appId);
    if (state !== 'store' && !isAlone) throw new StoreRefused(state, place);
    if (found?.making) await checkWhole(engine, found, place);
    const identity = { systemId: entry.id, appId, birth: newBirth(), generation: (found?.generation ?? 0) + 1, making: null };
    await engine.identify(identity);
    // One that cannot be opened is not taken in.
    const { store } = await engine.open(knownOf(identity), 'work');
    try {
      await migrate(store, place);
    } finally {
      await store.close();
    }
    return { ...identity, noticedAt: entry.createdAt };
  };
  if (await registry.addSystem(entry, [key], prepare)) return credentials;
  return refuse(`${appId} is registered: system forget ${appId} drops it from the registry first`);
}

async function checkWhole(engine: Engine, identity: StoreIdentity, place: string): Promise<void> {
  const { store } = await engine.open(knownOf(identity), 'making');
  const isWhole = (store.schema().templateVersion ?? 0) > 0;
  await store.close();
  if (!isWhole) refuse(`${place} was not made to its end: there is nothing to take in`);
}
