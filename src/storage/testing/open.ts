import type { Engine } from '../engine.ts';
import { knownOf, newIdentity } from '../identity.ts';
import type { Store } from '../port.ts';

/** Opens a store without a registry, creating it if there is none, for unit tests. */
export async function openAnyway(engine: Engine, appId: string): Promise<Store> {
  const { identity } = await engine.inspect(appId);
  return identity ? (await engine.open(knownOf(identity), 'work')).store : engine.create(newIdentity(appId, appId, 'tests'));
}
