import { newSecret } from '../kernel/ids.ts';
import { DAY_MS } from '../kernel/time.ts';
import type { Engine } from '../storage/engine.ts';
import { newIdentity, type StoredPlace } from '../storage/identity.ts';
import type { Store } from '../storage/port.ts';
import type { Exchange, KeyEntry, Registry, RemovedSystem, SystemEntry } from '../storage/registry.ts';
import { type AdoptedSystem, adoptStore } from './adoption.ts';
import { findStrangers, inspectStores, keepStore, noteGeneration, type StoreState } from './inspection.ts';
import { type Belongings, clearUnfinished, type MadeSystem, type MakerParts, makeSystem, withPlace } from './making.ts';
import { openStore } from './migrations/index.ts';
import { checkKey, checkName, type NewSystem, newEntry, printable, refuse, type SystemCredentials } from './new-entry.ts';
import { provision } from './provision.ts';
import { ownId, type Restored, refuseTaken, removeStore, restoreRemoved, waysOut } from './removed.ts';
import { hashKey, hashPrefix } from './system.ts';

/** What is done beside making a system, while it is not yet in force. What throws undoes it. */
export interface AdditionSteps {
  /** Called when its first tables are made. */
  fill?(store: Store, appId: string): Promise<void>;
  /** Called when all is made. */
  beforeCommit?(credentials: SystemCredentials): Promise<void>;
}

/** An API key as an operator sees it. */
export interface ListedKey extends KeyEntry {
  /** Milliseconds since 1970, some minutes behind; `null`: never. */
  readonly lastUsedAt: number | null;
}

/** How long a system is kept after it was removed, in milliseconds. */
const RETENTION_MS = 14 * DAY_MS;

/** What an operator does with systems and keys. Takes effect at once in every process of the service. */
export class Administration {
  readonly #registry: Registry;
  readonly #engine: Engine;
  readonly #openBelongings: () => Promise<Belongings>;
  readonly #parts: MakerParts;

  /** @param openBelongings for the removal of a system */
  constructor(registry: Registry, engine: Engine, openBelongings: () => Promise<Belongings>) {
    this.#registry = registry;
    this.#engine = engine;
    this.#openBelongings = openBelongings;
    this.#parts = { registry, engine, openBelongings };
  }

  systems(): readonly SystemEntry[] {
    return this.#registry.read().systems;
  }

  /** Those that can be restored, and those that are being deleted. */
  removedSystems(): readonly RemovedSystem[] {
    return this.#registry.read().removed;
  }

  /**
   * Adds a system with its first tables, a master key and one API key.
   * @throws AdministrationError where a value is not fit or the application id is taken
   */
  async addSystem(wanted: NewSystem, steps: AdditionSteps = {}): Promise<SystemCredentials> {
    const made = await this.#add(wanted, steps, false);
    if (made) return made;
    const { appId = '' } = wanted;
    refuseTaken(this.#registry.read(), appId);
    return refuse(`the application id ${appId} is taken`);
  }

  /**
   * Makes a system that is filled by other means than `addSystem`, before it comes into force.
   * @param replaces whether the one that has its application id, where there is one, is put aside for it, as `removeSystem` does; its place
   *   is to be another then (`nameBeside`)
   * @throws AdministrationError where the application id is taken; what `fill` throws
   */
  makeSystem(made: MadeSystem, replaces: boolean): Promise<void> {
    return makeSystem(this.#parts, made, replaces ? newExchange : undefined);
  }

  /**
   * Removes what this installation was making and has not made to its end, and that nobody is making now, with its files.
   * @returns the places that are clear now
   */
  clearUnfinished(): Promise<readonly string[]> {
    return clearUnfinished(this.#parts);
  }

  /** Adds a system where there is none yet, as `addSystem` does. @returns whether it did: another process may have been first */
  async addFirstSystem(wanted: NewSystem, steps: AdditionSteps = {}): Promise<boolean> {
    return (await this.#add(wanted, steps, true)) !== null;
  }

  async #add(wanted: NewSystem, steps: AdditionSteps, onlyFirst: boolean): Promise<SystemCredentials | null> {
    const { entry, key, credentials } = newEntry(this.#registry.salt, wanted);
    const { appId, place } = entry;
    const identity = newIdentity(entry.id, appId, this.#registry.salt);
    await this.clearUnfinished();
    const prepare = async () => {
      const found = await this.#engine.inspect(appId);
      if (found.state !== 'missing' && found.identity?.making !== identity.making)
        refuse(`${found.place} is there, and the registry does not know it: system adopt ${appId} takes it in`);
      const store = await this.#engine.create(identity);
      try {
        await provision(store);
        await steps.fill?.(store, appId);
      } finally {
        await store.close();
      }
      await steps.beforeCommit?.(credentials);
      return identity;
    };
    return withPlace(this.#engine, place, async () => {
      if (!(await this.#registry.addSystem(entry, [key], prepare, { onlyFirst }))) return null;
      // From now on it is in force, and not to be made anew.
      await (await openStore(this.#engine, this.#registry, appId)).close();
      return credentials;
    });
  }

  /** The stores that are there and that the registry does not know, but for those that this installation has not made to their end. */
  strangers(): Promise<readonly StoredPlace[]> {
    return findStrangers(this.#registry, this.#engine);
  }

  /**
   * Takes a store in that is there, with new keys, as a system of its own: no registry that knew it does so any more.
   * @throws AdministrationError where the application id is taken or the store was not made to its end; StoreRefused where there is none
   */
  adoptSystem(wanted: AdoptedSystem): Promise<SystemCredentials> {
    return adoptStore(this.#registry, this.#engine, wanted);
  }

  /** Drops a system from the registry, with its keys, and touches nothing else. @throws AdministrationError where there is none */
  async forgetSystem(appId: string): Promise<void> {
    await keepStore(this.#registry, this.#engine, appId);
    if (!(await this.#registry.forgetSystem(appId))) this.checkSystem(appId);
  }

  /** How the stores of the systems in force are, as of now. They stay as they are. */
  storeStates(): AsyncGenerator<StoreState> {
    return inspectStores(this.#registry, this.#engine);
  }

  /** Reads all of a system's store. @param name of its place @returns what is wrong; `null`: nothing */
  verifyStore(name: string): Promise<string | null> {
    return this.#engine.verify(name);
  }

  /**
   * Puts a system aside: nobody is served from it, and it is kept for 14 days as it is. Takes effect at once.
   * @returns when it may be deleted, in milliseconds since 1970
   * @throws AdministrationError where there is none
   */
  async removeSystem(appId: string): Promise<number> {
    const { deleteAfter } = newExchange();
    await noteGeneration(this.#registry, this.#engine, appId);
    if (!(await this.#registry.removeSystem(appId, deleteAfter))) this.checkSystem(appId);
    return deleteAfter;
  }

  /**
   * Puts a removed system back in force, as it was.
   * @param name its application id: of several the one that was removed last; or `RemovedSystem.appId`
   * @param replaces whether the one that is in force under its application id is put aside for it
   * @throws AdministrationError where there is none, or one is in force
   */
  restoreSystem(name: string, replaces = false): Promise<Restored> {
    return restoreRemoved(this.#registry, this.#engine, name, replaces ? newExchange() : undefined);
  }

  /** Has what was held of a system go on. @returns whether anything was @throws AdministrationError where there is no such system */
  async resumeSystem(appId: string): Promise<boolean> {
    this.checkSystem(appId);
    return this.#registry.holdSystem(appId, null);
  }

  /**
   * Deletes a system, removed or not, with all its data.
   * @param removed told of each so many files that are gone
   * @throws AdministrationError where there is none or another process is at it, and what opening the rest throws
   */
  async deleteSystem(appId: string, removed?: (files: number) => void): Promise<void> {
    // Opened first: where they cannot be reached, the system stays.
    const belongings = await this.#openBelongings();
    try {
      await noteGeneration(this.#registry, this.#engine, appId);
      const isThere = await this.#registry.removeSystem(appId, 0);
      if (!isThere && !this.removedSystems().some((one) => one.appId === appId)) this.checkSystem(appId);
      if (!(await this.#delete(appId, belongings, removed))) refuse(`${printable(appId)} is being deleted by another process`);
    } finally {
      await belongings.close();
    }
  }

  /**
   * Deletes the systems that were removed long enough ago, and what is left of those whose deletion was cut off.
   * @param isEnough asked between two of them
   * @returns the application ids of those that are gone
   */
  async deleteOverdue(isEnough: () => boolean): Promise<string[]> {
    const now = Date.now();
    const overdue = this.removedSystems().filter(({ deleteAfter }) => deleteAfter <= now);
    if (overdue.length === 0) return [];
    const belongings = await this.#openBelongings();
    const gone: string[] = [];
    const failures: unknown[] = [];
    try {
      for (const { appId } of overdue) {
        if (isEnough()) break;
        try {
          if (await this.#delete(appId, belongings)) gone.push(appId);
        } catch (error) {
          // It is tried again the next time, and keeps no other from being deleted.
          failures.push(error);
        }
      }
    } finally {
      await belongings.close();
    }
    if (failures.length > 0) throw failures[0];
    return gone;
  }

  #delete(appId: string, belongings: Belongings, removed?: (files: number) => void): Promise<boolean> {
    return this.#registry.deleteSystem(appId, Date.now(), async () => {
      const place = await removeStore(this.#registry, this.#engine, appId);
      if (place !== null) await belongings.removeSystem(place, removed);
    });
  }

  /** @throws AdministrationError where no such system is in force */
  checkSystem(appId: string): void {
    const { systems, removed } = this.#registry.read();
    if (systems.some((system) => system.appId === appId)) return;
    const aside = removed.find((one) => one.appId === appId) ?? removed.find((one) => ownId(one) === appId);
    if (aside) refuse(`${appId} was removed: ${waysOut(aside)}`);
    refuse(`there is no system ${JSON.stringify(printable(appId))}`);
  }

  /** The API keys of a system. @throws AdministrationError where there is no such system */
  async keys(appId: string): Promise<readonly ListedKey[]> {
    const uses = await this.#registry.lastUses(appId);
    return this.#keysOf(appId).map((key) => ({ ...key, lastUsedAt: uses.find(({ name }) => name === key.name)?.at ?? null }));
  }

  #keysOf(appId: string): readonly KeyEntry[] {
    this.checkSystem(appId);
    return this.#registry.read().keys.filter((key) => key.appId === appId);
  }

  /**
   * Adds an API key.
   * @param given a new one is made where it is left out
   * @returns the key
   * @throws AdministrationError where there is no such system, or the name or the key is in use
   */
  async addKey(appId: string, name: string, given?: string): Promise<string> {
    const key = checkKey(given ?? newSecret());
    const present = this.#keysOf(appId);
    const salt = this.systems().find((system) => system.appId === appId)?.keySalt ?? this.#registry.salt;
    const hash = hashKey(hashPrefix(salt, appId, 'apiKey'), key);
    if (present.some((one) => one.hash === hash)) refuse('this key is in use under another name');
    const added = await this.#registry.addKey({ appId, name: checkName(name), hash, createdAt: Date.now() });
    if (!added) refuse(`there is a key named ${name} already`);
    return key;
  }

  /** Revokes an API key. @throws AdministrationError where there is no such system or key */
  async revokeKey(appId: string, name: string): Promise<void> {
    this.checkSystem(appId);
    if (!(await this.#registry.removeKey(appId, name))) refuse(`there is no key named ${printable(name)}`);
  }
}

/** What becomes of a system that is put aside now. */
function newExchange(): Exchange {
  const now = Date.now();
  return { deleteAfter: now + RETENTION_MS, now };
}
