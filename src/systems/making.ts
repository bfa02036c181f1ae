import { setTimeout as wait } from 'node:timers/promises';
import type { Engine } from '../storage/engine.ts';
import { makerMark, newIdentity } from '../storage/identity.ts';
import type { Store } from '../storage/port.ts';
import type { Exchange, KeyEntry, Registry, SystemEntry } from '../storage/registry.ts';
import { noteGeneration } from './inspection.ts';
import { openStore } from './migrations/index.ts';
import { refuse } from './new-entry.ts';
import { refuseTaken } from './removed.ts';

/** What a system has beside its store, by the place of that. */
export interface Belongings {
  /** @param removed told of each so many files that are gone */
  removeSystem(place: string, removed?: (files: number) => void): Promise<void>;
  close(): Promise<void>;
}

/** What systems are made with. */
export interface MakerParts {
  readonly registry: Registry;
  readonly engine: Engine;
  /** For the removal of a system. */
  readonly openBelongings: () => Promise<Belongings>;
}

/** What a registry is to know of a system. */
export interface Registered {
  readonly system: SystemEntry;
  readonly keys: readonly KeyEntry[];
}

/** A system that comes into force once all of it is made. */
export interface MadeSystem extends Pick<SystemEntry, 'id' | 'appId' | 'place'> {
  /**
   * Fills its store, which has no tables yet, and stores its files under `store.place`. What it throws undoes all.
   * @returns what the registry is to know of it
   */
  fill(store: Store): Promise<Registered>;
}

/** How long who makes something waits for another process that does so in the same place, in milliseconds. */
const PLACE_WAIT_MS = 30_000;
const AGAIN_MS = 100;

/** Does some work while no other process makes or clears anything in a place. @throws AdministrationError where one does for long */
export async function withPlace<T>(engine: Pick<Engine, 'lockPlace'>, place: string, work: () => Promise<T>): Promise<T> {
  for (const deadline = performance.now() + PLACE_WAIT_MS; ; await wait(AGAIN_MS)) {
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
 * Makes a system and puts it into force as a whole; where that fails, nothing of it is left, or `clearUnfinished` clears it.
 * @param replace in exchange for the one that has its application id; left out: not where there is one
 * @throws AdministrationError where the application id is taken; what `fill` throws
 */
export async function makeSystem(
  parts: MakerParts,
  { id, appId, place, fill }: MadeSystem,
  replace: (() => Exchange) | undefined,
): Promise<void> {
  const { registry, engine } = parts;
  await clearUnfinished(parts);
  if (!replace) refuseTaken(registry.read(), appId);
  await withPlace(engine, place, async () => {
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
      if (replace) await noteGeneration(registry, engine, appId);
      const how = replace ? { replace: replace() } : {};
      if (!(await registry.addSystem(system, keys, async () => identity, how))) {
        refuseTaken(registry.read(), appId);
        refuse(`the application id ${appId} is taken`);
      }
    } catch (error) {
      // What stays is cleared later.
      await clearPlace(parts, place).catch(() => {});
      throw error;
    }
    // From now on it is in force, and not to be made anew.
    await (await openStore(engine, registry, appId)).close();
  });
}

/**
 * Removes what this installation was making and has not made to its end, and that nobody is making now.
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

/** Removes all that is in a place, which is to be locked, unless a system of the registry is there. Its store goes last: it says what is to be removed. */
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

/** Of all systems, as of now. */
async function knownPlaces(registry: Registry): Promise<ReadonlySet<string>> {
  return new Set((await registry.stores()).map(({ place }) => place));
}
