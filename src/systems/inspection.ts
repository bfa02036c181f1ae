import type { Engine } from '../storage/engine.ts';
import { makerMark, refusalOf, type StoredPlace, StoreRefused } from '../storage/identity.ts';
import type { Registry } from '../storage/registry.ts';

/** How the store of a system is. */
export interface StoreState {
  readonly appId: string;
  /** The name of its place (storage/places.ts). */
  readonly name: string;
  /** The file, or the schema, as an operator knows it. */
  readonly place: string;
  /** Why it is not served; `null`: it is. */
  readonly refused: StoreRefused | null;
  /** From when on writes may be missing that were acknowledged, in milliseconds since 1970. */
  readonly missingSince: number | null;
}

/** The stores that are there and that the registry does not know, but for those that this installation has not made to their end. */
export async function findStrangers(registry: Registry, engine: Engine): Promise<readonly StoredPlace[]> {
  const { systems, removed } = registry.read();
  const making = makerMark(registry.salt);
  const found: StoredPlace[] = [];
  for (const one of await engine.stored(new Set([...systems, ...removed].map(({ place }) => place)))) {
    const identity = one.name === null ? null : (await engine.inspect(one.name)).identity;
    if (identity?.making !== making) found.push(one);
  }
  return found;
}

/** How the stores of the systems in force are, as of now. They stay as they are. */
export async function* inspectStores(registry: Registry, engine: Engine): AsyncGenerator<StoreState> {
  const known = new Map((await registry.stores()).map((one) => [one.systemId, one]));
  for (const { id, appId, place: name } of registry.read().systems) {
    const one = known.get(id);
    if (!one) continue;
    const found = await engine.inspect(name);
    const why = refusalOf(found, one) ?? (one.damagedAt === null ? null : 'damaged');
    const refused = why === null ? null : new StoreRefused(why, found.place);
    yield { appId, name, place: found.place, refused, missingSince: one.missingSince };
  }
}

/** The store that an operator removes is the one that is there when he does so: its registry may not have heard of its last opening. */
export async function noteGeneration(registry: Registry, engine: Engine, appId: string): Promise<void> {
  const known = await registry.storeOf(appId);
  if (!known || registry.read().removed.some((one) => one.appId === appId)) return;
  const found = await engine.inspect(known.place);
  if (!found.identity || refusalOf(found, known)) return;
  const { birth, generation } = found.identity;
  if (known.birth === null || generation > known.generation) await registry.noteStore(known.systemId, { birth, generation });
}

/** The store of a system that the registry is to forget stays, also where the making of the system was cut off at its very end. */
export async function keepStore(registry: Registry, engine: Engine, appId: string): Promise<void> {
  const known = await registry.storeOf(appId);
  if (!known) return;
  const { identity } = await engine.inspect(known.place);
  if (identity?.making && identity.birth === known.birth) await engine.identify({ ...identity, making: null }, known.place);
}
