import { registryAct, systemAct } from '../acts/index.ts';
import { newSecret } from '../kernel/ids.ts';
import { isoText } from '../kernel/time.ts';
import type { Engine } from '../storage/engine.ts';
import { makerMark, newIdentity, type StoredPlace } from '../storage/identity.ts';
import type { KeyEntry, Registry, RemovedSystem, SystemEntry } from '../storage/registry.ts';
import { type AdoptedSystem, adoptStore } from './adoption.ts';
import { findUnregistered, inspectStores, keepStore, recordGeneration, type StoreState } from './inspection.ts';
import { type Belongings, clearUnfinished, type MadeSystem, type MakerParts, makeSystem, withPlace } from './making.ts';
import { deliverTo, openStore, pendingOfSystem } from './migrations/index.ts';
import {
  type AdditionSteps,
  checkKey,
  checkName,
  type NewSystem,
  newEntry,
  printable,
  refuse,
  type SystemCredentials,
} from './new-entry.ts';
import { provision } from './provision.ts';
import { newExchange, ownId, type Restored, refuseTaken, removeStore, restoreRemoved, waysOut } from './removed.ts';
import { hashKey, hashPrefix } from './system.ts';

/** An API key as shown to an operator. */
export interface ListedKey extends KeyEntry {
  /** Milliseconds since 1970, some minutes behind; `null`: never. */
  readonly lastUsedAt: number | null;
}

/** Operations on systems and keys for the operator. They take effect at once in every process of the service. */
export class Administration {
  readonly #registry: Registry;
  readonly #engine: Engine;
  readonly #openBelongings: () => Promise<Belongings>;
  readonly #parts: MakerParts;

  /** @param openBelongings opens what a system has beside its store, for removals */
  constructor(registry: Registry, engine: Engine, openBelongings: () => Promise<Belongings>) {
    this.#registry = registry;
    this.#engine = engine;
    this.#openBelongings = openBelongings;
    this.#parts = { registry, engine, openBelongings };
  }

  /** Identifies the installation, without telling its secret. */
  get installation(): string {
    return makerMark(this.#registry.salt);
  }

  systems(): readonly SystemEntry[] {
    return this.#registry.read().systems;
  }

  /** Removed systems: those that can be restored, and those that are being deleted. */
  removedSystems(): readonly RemovedSystem[] {
    return this.#registry.read().removed;
  }

  /**
   * Adds a system with its first tables, a master key and one API key.
   * @throws AdministrationError if a value is invalid or the application id is taken
   */
  async addSystem(wanted: NewSystem, steps: AdditionSteps = {}): Promise<SystemCredentials> {
    const made = await this.#add(wanted, steps, false);
    if (made) return made;
    const { appId = '' } = wanted;
    refuseTaken(this.#registry.read(), appId);
    return refuse(`the application id ${appId} is taken`);
  }

  /**
   * Creates a system with other content than `addSystem`; it comes into force when it is complete.
   * @param replaces whether a system with the same application id is put aside, as `removeSystem` does; the new one's place must then differ
   * (`nameBeside`)
   * @throws AdministrationError if the application id is taken; what `fill` throws
   */
  async makeSystem(made: MadeSystem, replaces: boolean): Promise<void> {
    await makeSystem(this.#parts, made, replaces ? () => newExchange(made.appId) : undefined);
    if (made.original !== undefined) await deliverTo(this.#registry, this.#engine, made.original);
  }

  /**
   * Removes incomplete systems of this installation that no process is creating now, with their files. Reference:
   * faults.md#missing-and-foreign-stores.
   * @returns the places that are clear now
   */
  clearUnfinished(): Promise<readonly string[]> {
    return clearUnfinished(this.#parts);
  }

  /** Adds a system if there is none, as `addSystem` does. @returns whether it did: another process may have been first */
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
      const act = systemAct(appId, 'added', { name: entry.name, keys: [key.name] });
      if (!(await this.#registry.addSystem(entry, [key], prepare, { onlyFirst, act }))) return null;
      // Opening completes the system: it is in force now and is never recreated.
      await (await openStore(this.#engine, this.#registry, appId)).close();
      return credentials;
    });
  }

  /** Returns the stores that the registry does not know, except incomplete ones of this installation. */
  unregisteredStores(): Promise<readonly StoredPlace[]> {
    return findUnregistered(this.#registry, this.#engine);
  }

  /**
   * Registers an existing store with new keys, as a system of its own: no former registry serves it any more.
   * Reference: faults.md#missing-and-foreign-stores.
   * @throws AdministrationError if the application id is taken or the store was not completed; StoreRefused if there is none
   */
  async adoptSystem(wanted: AdoptedSystem): Promise<SystemCredentials> {
    const made = await adoptStore(this.#registry, this.#engine, wanted);
    await deliverTo(this.#registry, this.#engine, made.appId);
    return made;
  }

  /** Drops a system and its keys from the registry, and touches nothing else. @throws AdministrationError if there is none */
  async forgetSystem(appId: string): Promise<void> {
    await keepStore(this.#registry, this.#engine, appId);
    if (!(await this.#registry.forgetSystem(appId, systemAct(appId, 'forgotten')))) this.checkSystem(appId);
  }

  /** Inspects the stores of the systems in force, without changing them. */
  storeStates(): AsyncGenerator<StoreState> {
    return inspectStores(this.#registry, this.#engine);
  }

  /** Returns how many migrations of a system the next start will run. @param name of its place @throws OperatorError for one of a later version */
  async pendingMigrations(appId: string, name: string): Promise<number> {
    const { pending, system } = await this.#engine.levels(name);
    return pending + pendingOfSystem(system, appId);
  }

  /** Reads all of a system's store. @param name of its place @returns what is wrong; `null`: nothing */
  verifyStore(name: string): Promise<string | null> {
    return this.#engine.verify(name);
  }

  /**
   * Puts a system aside at once: it is not served any more, and kept unchanged for 14 days. Reference: faults.md#removed-systems.
   * @returns when it may be deleted, in milliseconds since 1970
   * @throws AdministrationError if there is none
   */
  async removeSystem(appId: string): Promise<number> {
    const { deleteAfter } = newExchange(appId);
    await recordGeneration(this.#registry, this.#engine, appId);
    const act = systemAct(appId, 'removed', { until: isoText(deleteAfter) });
    if (!(await this.#registry.removeSystem(appId, deleteAfter, act))) this.checkSystem(appId);
    return deleteAfter;
  }

  /**
   * Puts a removed system back in force, as it was.
   * @param name its application id (of several the one removed last), or `RemovedSystem.appId`
   * @param replaces whether the system in force under its application id is put aside
   * @throws AdministrationError if there is none, or one is in force
   */
  async restoreSystem(name: string, replaces = false): Promise<Restored> {
    const exchange = replaces ? (appId: string) => newExchange(appId) : undefined;
    const restored = await restoreRemoved(this.#registry, this.#engine, name, exchange);
    await deliverTo(this.#registry, this.#engine, restored.appId);
    return restored;
  }

  /**
   * Resumes the held work of a system (backup.md#held-systems). @returns whether it was held @throws AdministrationError if there is no such system
   */
  async resumeSystem(appId: string): Promise<boolean> {
    this.checkSystem(appId);
    const resumed = await this.#registry.holdSystem(appId, null, systemAct(appId, 'resumed'));
    if (resumed) await deliverTo(this.#registry, this.#engine, appId);
    return resumed;
  }

  /**
   * Deletes a system, removed or not, with all its data.
   * @param removed called with the number of files deleted so far
   * @throws AdministrationError if there is none or another process is deleting it, and what opening its belongings throws
   */
  async deleteSystem(appId: string, removed?: (files: number) => void): Promise<void> {
    // Opened first: if they cannot be reached, the system stays.
    const belongings = await this.#openBelongings();
    try {
      await recordGeneration(this.#registry, this.#engine, appId);
      const isThere = await this.#registry.removeSystem(appId, 0);
      if (!isThere && !this.removedSystems().some((one) => one.appId === appId)) this.checkSystem(appId);
      if (!(await this.#delete(appId, belongings, removed))) refuse(`${printable(appId)} is being deleted by another process`);
    } finally {
      await belongings.close();
    }
  }

  /**
   * Deletes the systems whose time is over, and completes interrupted deletions.
   * @param shouldStop checked between two of them
   * @returns the application ids of those that were deleted
   */
  async deleteOverdue(shouldStop: () => boolean): Promise<string[]> {
    const now = Date.now();
    const overdue = this.removedSystems().filter(({ deleteAfter }) => deleteAfter <= now);
    if (overdue.length === 0) return [];
    const belongings = await this.#openBelongings();
    const gone: string[] = [];
    const failures: unknown[] = [];
    try {
      for (const { appId } of overdue) {
        if (shouldStop()) break;
        try {
          if (await this.#delete(appId, belongings)) gone.push(appId);
        } catch (error) {
          // Retried the next time; does not prevent the deletion of others.
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

  /** @throws AdministrationError if no such system is in force */
  checkSystem(appId: string): void {
    const { systems, removed } = this.#registry.read();
    if (systems.some((system) => system.appId === appId)) return;
    const aside = removed.find((one) => one.appId === appId) ?? removed.find((one) => ownId(one) === appId);
    if (aside) refuse(`${appId} was removed: ${waysOut(aside)}`);
    refuse(`there is no system ${JSON.stringify(printable(appId))}`);
  }

  /** Returns the API keys of a system. @throws AdministrationError if there is no such system */
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
   * @param given left out: a new one is generated
   * @returns the key
   * @throws AdministrationError if there is no such system, or the name or the key is in use
   */
  async addKey(appId: string, name: string, given?: string): Promise<string> {
    const key = checkKey(given ?? newSecret());
    const present = this.#keysOf(appId);
    const salt = this.systems().find((system) => system.appId === appId)?.keySalt ?? this.#registry.salt;
    const hash = hashKey(hashPrefix(salt, appId, 'apiKey'), key);
    if (present.some((one) => one.hash === hash)) refuse('this key is in use under another name');
    const act = registryAct({ act: 'keys', subject: checkName(name), after: { name } });
    const added = await this.#registry.addKey({ appId, name, hash, createdAt: Date.now() }, act);
    if (!added) refuse(`there is a key named ${name} already`);
    await deliverTo(this.#registry, this.#engine, appId);
    return key;
  }

  /** Revokes an API key. @throws AdministrationError if there is no such system or key */
  async revokeKey(appId: string, name: string): Promise<void> {
    this.checkSystem(appId);
    const act = registryAct({ act: 'keys', subject: name, before: { name } });
    if (!(await this.#registry.removeKey(appId, name, act))) refuse(`there is no key named ${printable(name)}`);
    await deliverTo(this.#registry, this.#engine, appId);
  }
}
