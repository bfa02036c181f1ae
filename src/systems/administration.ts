import { appIdPattern, keyForm, keyPattern } from '../kernel/credentials.ts';
import { newObjectId, newSecret } from '../kernel/ids.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import type { Engine } from '../storage/engine-port.ts';
import {
  knownOf,
  makerMark,
  newBirth,
  newIdentity,
  refusalOf,
  type StoredPlace,
  type StoreIdentity,
  StoreRefused,
} from '../storage/identity.ts';
import type { Store } from '../storage/port.ts';
import type { KeyEntry, Registry, RemovedSystem, SystemEntry } from '../storage/registry.ts';
import { migrate, openStore } from './migrations/index.ts';
import { provision } from './provision.ts';
import { hashKey, hashPrefix } from './secrets.ts';

/** Why an action of the operator was refused, in one line. */
export class AdministrationError extends OperatorError {}

/** What to add a system with; what is left out is made up. */
export interface NewSystem {
  readonly appId?: string | undefined;
  readonly name?: string | undefined;
  readonly masterKey?: string | undefined;
  readonly apiKey?: string | undefined;
}

/** The credentials of a new system. The keys are nowhere else. */
export interface SystemCredentials {
  readonly appId: string;
  readonly masterKey: string;
  readonly apiKey: string;
}

/** What is done beside making a system, while it is not yet in force. What throws undoes it. */
export interface AdditionSteps {
  /** Called when its first tables are made. */
  fill?(store: Store, appId: string): Promise<void>;
  /** Called when all is made. */
  beforeCommit?(credentials: SystemCredentials): Promise<void>;
}

/** What a system has beside its store. */
export interface Belongings {
  /** @param removed told of each so many files that are gone */
  removeSystem(appId: string, removed?: (files: number) => void): Promise<void>;
  close(): Promise<void>;
}

/** An API key as an operator sees it. */
export interface ListedKey extends KeyEntry {
  /** Milliseconds since 1970, some minutes behind; `null`: never. */
  readonly lastUsedAt: number | null;
}

/** How the store of a system is. */
export interface StoreState {
  readonly appId: string;
  readonly place: string;
  /** Why it is not served; `null`: it is. */
  readonly refused: StoreRefused | null;
  /** From when on writes may be missing that were acknowledged, in milliseconds since 1970. */
  readonly missingSince: number | null;
}

/** How long a system is kept after it was removed, in milliseconds. */
const KEPT = 14 * 24 * 3_600_000;

/** The name of the API key that a new system has. */
const firstKeyName = 'default';

/** What an operator does with systems and keys. Takes effect at once in every process of the service. */
export class Administration {
  readonly #registry: Registry;
  readonly #engine: Engine;
  readonly #openBelongings: () => Promise<Belongings>;

  /** @param openBelongings for the removal of a system */
  constructor(registry: Registry, engine: Engine, openBelongings: () => Promise<Belongings>) {
    this.#registry = registry;
    this.#engine = engine;
    this.#openBelongings = openBelongings;
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
    const removed = this.removedSystems().find((one) => one.appId.toLowerCase() === appId.toLowerCase());
    if (!removed) return refuse(`the application id ${appId} is taken`);
    return refuse(`the application id ${appId} is taken by a removed system: ${waysOut(removed.appId)}`);
  }

  /** Adds a system where there is none yet, as `addSystem` does. @returns whether it did: another process may have been first */
  async addFirstSystem(wanted: NewSystem, steps: AdditionSteps = {}): Promise<boolean> {
    return (await this.#add(wanted, steps, true)) !== null;
  }

  async #add(wanted: NewSystem, steps: AdditionSteps, onlyFirst: boolean): Promise<SystemCredentials | null> {
    const appId = wanted.appId ?? newObjectId();
    if (!appIdPattern.test(appId)) refuse('an application id has 1 to 64 letters, digits, - or _');
    const name = checkName(wanted.name ?? appId);
    const credentials = {
      appId,
      masterKey: checkKey(wanted.masterKey ?? newSecret()),
      apiKey: checkKey(wanted.apiKey ?? newSecret()),
    };
    const at = Date.now();
    const entry = {
      id: newObjectId(),
      appId,
      name,
      createdAt: at,
      masterKeyHash: this.#hash(appId, 'master', credentials.masterKey),
    };
    const key = { appId, name: firstKeyName, hash: this.#hash(appId, 'apiKey', credentials.apiKey), createdAt: at };
    const identity = newIdentity(entry.id, appId, this.#registry.salt);
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
    if (!(await this.#registry.addSystem(entry, [key], prepare, onlyFirst))) return null;
    // From now on it is in force, and not to be made anew.
    await (await openStore(this.#engine, this.#registry, appId)).close();
    return credentials;
  }

  /** The stores that are there and that the registry does not know, but for those that this installation has not made to their end. */
  async strangers(): Promise<readonly StoredPlace[]> {
    const { systems, removed } = this.#registry.read();
    const making = makerMark(this.#registry.salt);
    const found: StoredPlace[] = [];
    for (const one of await this.#engine.stored(new Set([...systems, ...removed].map(({ appId }) => appId)))) {
      const identity = one.appId === null ? null : (await this.#engine.inspect(one.appId)).identity;
      if (identity?.making !== making) found.push(one);
    }
    return found;
  }

  /**
   * Takes a store in that is there, with new keys, as a system of its own: no registry that knew it does so any more.
   * @throws AdministrationError where the application id is taken or the store was not made to its end; StoreRefused where there is none
   */
  async adoptSystem({
    appId,
    name = appId,
  }: {
    readonly appId: string;
    readonly name?: string | undefined;
  }): Promise<SystemCredentials> {
    if (!appIdPattern.test(appId)) refuse('an application id has 1 to 64 letters, digits, - or _');
    const credentials = { appId, masterKey: newSecret(), apiKey: newSecret() };
    const id = newObjectId();
    const at = Date.now();
    const masterKeyHash = this.#hash(appId, 'master', credentials.masterKey);
    const entry = { id, appId, name: checkName(name), createdAt: at, masterKeyHash };
    const key = { appId, name: firstKeyName, hash: this.#hash(appId, 'apiKey', credentials.apiKey), createdAt: at };
    const prepare = async () => {
      const { identity: found, state, place, isAlone = false } = await this.#engine.inspect(appId);
      if (state !== 'store' && !isAlone) throw new StoreRefused(state, place);
      if (found?.making) await this.#checkWhole(found, place);
      const identity = { systemId: id, appId, birth: newBirth(), generation: (found?.generation ?? 0) + 1, making: null };
      await this.#engine.identify(identity);
      // One that cannot be opened is not taken in.
      const { store } = await this.#engine.open(knownOf(identity), 'work');
      try {
        await migrate(store, place);
      } finally {
        await store.close();
      }
      return { ...identity, noticedAt: at };
    };
    if (await this.#registry.addSystem(entry, [key], prepare)) return credentials;
    return refuse(`${appId} is registered: system forget ${appId} drops it from the registry first`);
  }

  async #checkWhole(identity: StoreIdentity, place: string): Promise<void> {
    const { store } = await this.#engine.open(knownOf(identity), 'making');
    const isWhole = (store.schema().templateVersion ?? 0) > 0;
    await store.close();
    if (!isWhole) refuse(`${place} was not made to its end: there is nothing to take in`);
  }

  /** Drops a system from the registry, with its keys, and touches nothing else. @throws AdministrationError where there is none */
  async forgetSystem(appId: string): Promise<void> {
    if (!(await this.#registry.forgetSystem(appId))) this.checkSystem(appId);
  }

  /** How the stores of the systems in force are, as of now. They stay as they are. */
  async *storeStates(): AsyncGenerator<StoreState> {
    const known = new Map((await this.#registry.stores()).map((one) => [one.appId, one]));
    for (const { appId } of this.systems()) {
      const one = known.get(appId);
      if (!one) continue;
      const found = await this.#engine.inspect(appId);
      const why = refusalOf(found, one) ?? (one.damagedAt === null ? null : 'damaged');
      const refused = why === null ? null : new StoreRefused(why, found.place);
      yield { appId, place: found.place, refused, missingSince: one.missingSince };
    }
  }

  /** Reads all of a system's store. @returns what is wrong; `null`: nothing */
  verifyStore(appId: string): Promise<string | null> {
    return this.#engine.verify(appId);
  }

  /**
   * Puts a system aside: nobody is served from it, and it is kept for 14 days as it is. Takes effect at once.
   * @returns when it may be deleted, in milliseconds since 1970
   * @throws AdministrationError where there is none
   */
  async removeSystem(appId: string): Promise<number> {
    const deleteAfter = Date.now() + KEPT;
    await this.#noteGeneration(appId);
    if (!(await this.#registry.removeSystem(appId, deleteAfter))) this.checkSystem(appId);
    return deleteAfter;
  }

  /** Puts a removed system back in force, as it was. @throws AdministrationError where there is none */
  async restoreSystem(appId: string): Promise<void> {
    if (await this.#registry.restoreSystem(appId, Date.now())) return;
    const isThere = this.removedSystems().some((one) => one.appId === appId);
    refuse(isThere ? `${printable(appId)} is being deleted` : `there is no removed system ${printable(appId)}`);
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
      await this.#noteGeneration(appId);
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
      const known = await this.#registry.storeOf(appId);
      if (known) await this.#engine.remove(appId, known);
      await belongings.removeSystem(appId, removed);
    });
  }

  /** The store that an operator removes is the one that is there when he does so: its registry may not have heard of its last opening. */
  async #noteGeneration(appId: string): Promise<void> {
    const known = await this.#registry.storeOf(appId);
    if (!known || this.removedSystems().some((one) => one.appId === appId)) return;
    const found = await this.#engine.inspect(appId);
    if (!found.identity || refusalOf(found, known)) return;
    const { birth, generation } = found.identity;
    if (known.birth === null || generation > known.generation)
      await this.#registry.noteStore(known.systemId, { birth, generation });
  }

  /** @throws AdministrationError where no such system is in force */
  checkSystem(appId: string): void {
    const { systems, removed } = this.#registry.read();
    if (systems.some((system) => system.appId === appId)) return;
    if (removed.some((system) => system.appId === appId)) refuse(`${appId} was removed: ${waysOut(appId)}`);
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
    const hash = this.#hash(appId, 'apiKey', key);
    const present = this.#keysOf(appId);
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

  #hash(appId: string, kind: 'master' | 'apiKey', key: string): string {
    return hashKey(hashPrefix(this.#registry.salt, appId, kind), key);
  }
}

/** What an operator can do about a system that was removed. */
const waysOut = (appId: string) => `system restore ${appId} brings it back, system remove ${appId} --now deletes it`;

function refuse(why: string): never {
  throw new AdministrationError(why);
}

/** Names are printed in lists, one a line. */
function checkName(name: string): string {
  return /^[^\p{C}]{1,100}$/u.test(name) ? name : refuse('a name has 1 to 100 characters, none of them a control character');
}

function checkKey(key: string): string {
  return keyPattern.test(key) ? key : refuse(`a key has ${keyForm}`);
}

function printable(text: string): string {
  return text.slice(0, 100).replace(/\p{C}/gu, '?');
}
