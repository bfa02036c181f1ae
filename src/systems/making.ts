import { setTimeout as wait } from 'node:timers/promises';
import { type ActFacts, registryAct } from '../acts/index.ts';
import type { Engine } from '../storage/engine.ts';
import { makerMark, newIdentity } from '../storage/identity.ts';
import type { Store } from '../storage/port.ts';
import type { Exchange, KeyEntry, Registry, SystemEntry } from '../storage/registry.ts';
import { recordGeneration } from './inspection.ts';
import { openStore } from './migrations/index.ts';
import { refuse } from './new-entry.ts';
import { refuseTaken } from './removed.ts';

/** What a system has beside its store, by the store's place. */
export interface Belongings {
  /** @param removed called with the number of files deleted so far */
  removeSystem(place: string, removed?: (files: number) => void): Promise<void>;
  close(): Promise<void>;
}

/** What the creation of systems needs. */
export interface MakerParts {
  readonly registry: Registry;
  readonly engine: Engine;
  /** Opens what a system has beside its store, for removals. */
  readonly openBelongings: () => Promise<Belongings>;
}

/** The registry entry of a system. */
export interface Registered {
  readonly system: SystemEntry;
  readonly keys: readonly KeyEntry[];
}

/** A system that comes into force when it is complete. */
export interface MadeSystem extends Pick<SystemEntry, 'id' | 'appId' | 'place'> {
  /**
   * Fills its store, which has no tables yet, and stores its files under `store.place`. An error undoes everything.
   * @returns its registry entry
   */
  fill(store: Store): Promise<Registered>;
  /** What made it, for its log. */
  readonly act: ActFacts;
  /** Application id of a system whose log has the act too. */
  readonly original?: string;
}

/** Timeout, in milliseconds, of waiting for another process that creates something in the same place. */
const PLACE_TIMEOUT_MS = 30_000;
const RETRY_INTERVAL_MS = 100;

/** Runs work while holding the lock of a place. @throws AdministrationError if another process holds it for long */
export async function withPlace<T>(engine: Pick<Engine, 'lockPlace'>, place: string, work: () => Promise<T>): Promise<T> {
  for (const deadline = performance.now() + PLACE_TIMEOUT_MS; ; await wait(RETRY_INTERVAL_MS)) {
    const lock = await engine.lockPlace(place);
    if (lock)
      try {
        return await work();
      } finally {
        await lock.release();
      }
    if (performance.now() > deadline) refuse(`another process is making a system in ${place}`);
  }
}

/**
 * Creates a system and puts it into force as a whole; on failure nothing is left, or `clearUnfinished` removes the rest.
 * @param replace in exchange for the system that has its application id; left out: refused if there is one
 * @throws AdministrationError if the application id is taken; what `fill` throws
 */
export async function makeSystem(
  parts: MakerParts,
  { id, appId, place, fill, act, original }: MadeSystem,
  replace: (() => Exchange) | undefined,
): Promise<void> {
  const { registry, engine } = parts;
  await clearUnfinished(parts);
  if (!replace) refuseTaken(registry.read(), appId);
  await withPlace(engine, place, async () => {
    // Another process may have made it while this one waited.
    if ((await knownPlaces(registry)).has(place)) refuse(`the application id ${appId} is taken`);
    const identity = newIdentity(id, appId, registry.salt);
    try {
      const store = await engine.create(identity, place);
      let registered: Registered;
      try {
        registered = await fill(store);
      } finally {
        await store.close();
      }
      const { system, keys } = registered;
      if (replace) await recordGeneration(registry, engine, appId);
      const how = {
        act: registryAct(act),
        ...(replace && { replace: replace() }),
        ...(original !== undefined && { original: { appId: original, act: registryAct(act) } }),
      };
      if (!(await registry.addSystem(system, keys, async () => identity, how))) {
        refuseTaken(registry.read(), appId);
        refuse(`the application id ${appId} is taken`);
      }
    } catch (error) {
      // Leftovers are cleared later.
      await clearPlace(parts, place).catch(() => {});
      throw error;
    }
    // Opening completes the system: it is in force now and is never recreated.
    await (await openStore(engine, registry, appId)).close();
  });
}

/**
 * Removes incomplete systems of this installation that no process is creating now.
 * @returns the places that are clear now
 */
export async function clearUnfinished(parts: MakerParts): Promise<readonly string[]> {
  const { registry, engine } = parts;
  const left = await engine.unfinished(makerMark(registry.salt), await knownPlaces(registry));
  const clear: string[] = [];
  for (const place of left) {
    const lock = await engine.lockPlace(place);
    if (!lock) continue;
    try {
      if (await clearPlace(parts, place)) clear.push(place);
    } finally {
      await lock.release();
    }
  }
  return clear;
}

/** Removes everything in a locked place, unless it belongs to a registered system. The store goes last, since it says what is to be removed. */
async function clearPlace({ registry, engine, openBelongings }: MakerParts, place: string): Promise<boolean> {
  if ((await knownPlaces(registry)).has(place)) return false;
  const belongings = await openBelongings();
  try {
    await belongings.removeSystem(place);
  } finally {
    await belongings.close();
  }
  await engine.remove(place, { making: makerMark(registry.salt) });
  return true;
}

/** Returns the places of all systems now. */
async function knownPlaces(registry: Registry): Promise<ReadonlySet<string>> {
  return new Set((await registry.stores()).map(({ place }) => place));
}
