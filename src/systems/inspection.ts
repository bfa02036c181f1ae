import { isUnavailable } from '../errors/fail.ts';
import type { Engine } from '../storage/engine.ts';
import { makerMark, refusalOf, type StoredPlace, StoreRefused } from '../storage/identity.ts';
import type { Registry } from '../storage/registry.ts';

/** The state of a system's store. */
export interface StoreState {
  readonly appId: string;
  /** The name of its place (storage/places.ts). */
  readonly name: string;
  /** The file, or the schema, as operators know it. */
  readonly place: string;
  /** Why it is not served; `null`: it is served. */
  readonly refused: StoreRefused | null;
  /** Since when acknowledged writes may be missing, in milliseconds since 1970. */
  readonly missingSince: number | null;
  /** The node of a database cluster where it lies, `host:port`; `null`: it lies on none. */
  readonly node: string | null;
  /** Whether that node cannot be reached now. */
  readonly isUnreachable: boolean;
}

/** Returns the stores that the registry does not know, except incomplete ones of this installation. */
export async function findUnregistered(registry: Registry, engine: Engine): Promise<readonly StoredPlace[]> {
  const { systems, removed } = registry.read();
  const making = makerMark(registry.salt);
  const found: StoredPlace[] = [];
  for (const one of await engine.stored(new Set([...systems, ...removed].map(({ place }) => place)))) {
    const identity = one.name === null ? null : (await engine.inspect(one.name)).identity;
    if (identity?.making !== making) found.push(one);
  }
  return found;
}

/** Inspects the stores of the systems in force, without changing them. */
export async function* inspectStores(registry: Registry, engine: Engine): AsyncGenerator<StoreState> {
  const known = new Map((await registry.stores()).map((one) => [one.systemId, one]));
  const nodeOf = await engine.nodes();
  for (const { id, appId, place: name } of registry.read().systems) {
    const one = known.get(id);
    if (!one) continue;
    const node = nodeOf(name);
    const { missingSince } = one;
    const found = await engine.inspect(name).catch(async (error) => {
      if (node === null || !isUnavailable(error)) throw error;
      // Throws if the database itself is away.
      await engine.probe();
      return null;
    });
    if (!found) {
      yield { appId, name, place: name, refused: null, missingSince, node, isUnreachable: true };
      continue;
    }
    const why = refusalOf(found, one) ?? (one.damagedAt === null ? null : 'damaged');
    const refused = why === null ? null : new StoreRefused(why, found.place);
    yield { appId, name, place: found.place, refused, missingSince, node, isUnreachable: false };
  }
}

/** Records the store's present generation before its system is removed, since the registry may not know of its last opening. */
export async function recordGeneration(registry: Registry, engine: Engine, appId: string): Promise<void> {
  const known = await registry.storeOf(appId);
  if (!known || registry.read().removed.some((one) => one.appId === appId)) return;
  const found = await engine.inspect(known.place);
  if (!found.identity || refusalOf(found, known)) return;
  const { birth, generation } = found.identity;
  if (known.birth === null || generation > known.generation) await registry.recordStore(known.systemId, { birth, generation });
}

/**
 * Marks the store of a system that is to be forgotten as complete, in case its creation was interrupted at the very end, so that it is not cleared.
 */
export async function keepStore(registry: Registry, engine: Engine, appId: string): Promise<void> {
  const known = await registry.storeOf(appId);
  if (!known) return;
  const { identity } = await engine.inspect(known.place);
  if (identity?.making && identity.birth === known.birth) await engine.identify({ ...identity, making: null }, known.place);
}
