import { systemAct } from '../acts/index.ts';
import type { Engine } from '../storage/engine.ts';
import { knownOf, newBirth, type StoreIdentity, StoreRefused } from '../storage/identity.ts';
import { placePattern } from '../storage/places.ts';
import type { Registry } from '../storage/registry.ts';
import { migrate } from './migrations/index.ts';
import { newEntry, refuse, type SystemCredentials } from './new-entry.ts';
import { ownId } from './removed.ts';

/** A store to register. */
export interface AdoptedSystem {
  /** The name of its place: its application id, or one beside that (storage/places.ts). */
  readonly place: string;
  /** Left out: the application id. */
  readonly name?: string | undefined;
}

/**
 * Registers an existing store with new keys, as a system of its own: it gets a new identity, so that no former registry serves it any more.
 * Reference: faults.md#missing-and-foreign-stores.
 * @throws AdministrationError if the application id is taken or the store was not completed; StoreRefused if there is none
 */
export async function adoptStore(
  registry: Registry,
  engine: Engine,
  { place: given, name }: AdoptedSystem,
): Promise<SystemCredentials> {
  const appId = placePattern.test(given) ? await appIdOf(engine, given) : given;
  const { entry, key, credentials } = newEntry(registry.salt, { appId, name });
  const prepare = async () => {
    const { identity: found, state, place, isAlone = false } = await engine.inspect(given);
    if (state !== 'store' && !isAlone) throw new StoreRefused(state, place);
    if (found?.making) await checkWhole(engine, found, given, place);
    const identity = { systemId: entry.id, appId, birth: newBirth(), generation: (found?.generation ?? 0) + 1, making: null };
    await engine.identify(identity, given);
    // Opened to check it: a store that cannot be opened is not registered.
    const { store } = await engine.open(knownOf(identity, given), 'work');
    try {
      await migrate(store, place);
    } finally {
      await store.close();
    }
    return { ...identity, noticedAt: entry.createdAt, ...(found && { formerSystemId: found.systemId }) };
  };
  const act = systemAct(appId, 'adopted', { name: entry.name, keys: [key.name] });
  if (await registry.addSystem({ ...entry, place: given }, [key], prepare, { act })) return credentials;
  const { removed } = registry.read();
  const aside = removed.find((one) => ownId(one) === appId)?.appId ?? appId;
  return refuse(`${appId} is registered: system forget ${aside} drops it from the registry first`);
}

/** Returns the application id of a store, whose place may have a name beside it. */
async function appIdOf(engine: Engine, name: string): Promise<string> {
  const [plain = name, mark] = name.split('~');
  if (mark === undefined) return name;
  return (await engine.inspect(name)).identity?.appId ?? plain;
}

async function checkWhole(engine: Engine, identity: StoreIdentity, name: string, place: string): Promise<void> {
  const { store } = await engine.open(knownOf(identity, name), 'making');
  const isWhole = (store.schema().templateVersion ?? 0) > 0;
  await store.close();
  if (!isWhole) refuse(`${place} was not made to its end: there is nothing to take in`);
}
