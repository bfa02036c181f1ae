import { setTimeout as wait } from 'node:timers/promises';
import { fail, isPassing } from '../errors/fail.ts';
import type { SystemCounts } from '../observe/metrics/index.ts';
import type { Cluster } from '../storage/cluster.ts';
import type { Engine, PendingRows } from '../storage/engine.ts';
import type { KeyEntry, Registry, RegistryContent, SystemEntry } from '../storage/registry.ts';
import { KeyUses } from './key-uses.ts';
import { openStore } from './migrations/index.ts';
import { systemsWith } from './pending-systems.ts';
import { RefusedStores, type StoreEvents } from './refused-stores.ts';
import { ownId } from './removed.ts';
import { KeyGuard, Registration, System } from './system.ts';

/** Poll interval, in milliseconds, while a system is being exchanged; other processes announce the exchange at once. */
const EXCHANGE_POLL_MS = 20;

/** Time that counts wait for the present state of the registry, in milliseconds. */
const COUNTS_WAIT_MS = 1_000;

/** The systems of this process, by application id: opened on first use, closed when idle. */
export class Systems {
  readonly #registry: Registry;
  readonly #engine: Pick<Engine, 'open' | 'atRest' | 'cluster'>;
  readonly #reportFault: (error: unknown) => void;
  readonly #keyGuard: KeyGuard;
  readonly #open = new Map<string, System | Promise<void>>();
  /** By the place of the store, since an exchanged system has another place. */
  readonly #closing = new Map<string, Promise<void>>();
  readonly #sweeper: NodeJS.Timeout;
  readonly #keyUses: KeyUses;
  readonly #events: StoreEvents;
  readonly #refused: RefusedStores;
  #registrations: ReadonlyMap<string, Registration> = new Map();
  #appIds: readonly string[] = [];
  #removed: ReadonlySet<string> = new Set();
  #removedCount = 0;
  #active: ReadonlyMap<string, string> = new Map();
  #version = Number.NaN;

  /**
   * @param idleTime milliseconds; a system is closed after one to two such times without a request
   * @param reportFault called with errors of closing a system
   * @param keyGuard shared by all systems, since keys may be guessed for any of them
   * @param events called for refused stores and possibly missing writes
   */
  constructor(
    registry: Registry,
    engine: Pick<Engine, 'open' | 'atRest' | 'cluster'>,
    idleTime: number,
    reportFault: (error: unknown) => void,
    keyGuard = new KeyGuard(),
    events: StoreEvents = { missing() {} },
  ) {
    this.#registry = registry;
    this.#engine = engine;
    this.#reportFault = reportFault;
    this.#keyUses = new KeyUses(registry);
    this.#keyGuard = keyGuard;
    this.#events = events;
    this.#refused = new RefusedStores(events.conditions);
    this.#sweeper = setInterval(() => this.#closeIdle(), idleTime);
    this.#sweeper.unref();
  }

  /** As `acquire`, if the system is open and nothing has to be checked or awaited; otherwise `undefined`. @throws unavailable */
  tryAcquire(appId: string): System | undefined {
    if (!this.#registry.isCurrent()) return undefined;
    if (this.#registry.version() !== this.#version) this.#reload();
    const open = this.heldSystem(appId);
    open?.hold();
    return open;
  }

  /** Returns a system that a request in progress holds, for work of that request: the registry, which takes a file lock, is not asked again. */
  heldSystem(appId: string): System | undefined {
    const open = this.#open.get(appId);
    return open instanceof System && open.store.isCurrent() ? open : undefined;
  }

  /**
   * Returns the system that the registry has for an application id, opened if necessary, and held for the caller, who has to release it;
   * `undefined` if there is none.
   * @throws unavailable
   */
  acquire(appId: string): Promise<System | undefined> {
    return this.#acquire(appId, true);
  }

  async #acquire(appId: string, isUse: boolean): Promise<System | undefined> {
    for (;;) {
      await this.#registry.whenCurrent();
      if (this.#registry.version() !== this.#version) this.#reload();
      const open = this.#open.get(appId);
      if (open instanceof System) {
        open.hold(isUse);
        try {
          // From then on it reflects what other processes committed before.
          await open.store.whenCurrent();
          return open;
        } catch (error) {
          open.release();
          throw error;
        }
      }
      const registration = this.#registrations.get(appId);
      if (!open && !registration) return undefined;
      await (open ?? this.#openRegistered(registration as Registration));
    }
  }

  async #openRegistered(registration: Registration): Promise<void> {
    this.#refused.check(registration.entry.appId, registration.entry.id);
    await this.#openSystem(registration);
  }

  /** Whether there is a system of an application id, as far as this process knows. */
  isKnown(appId: string): boolean {
    if (this.#registry.version() !== this.#version) this.#reload();
    return this.#registrations.has(appId);
  }

  /**
   * As `acquire`, for addresses that answer differently if there has never been such a system.
   * @throws unauthorized (403) for a removed one (faults.md#removed-systems)
   */
  async enter(appId: string): Promise<System | undefined> {
    const system = await this.acquire(appId);
    return !system && this.#removed.has(appId) ? fail('unauthorized') : system;
  }

  /** The processes that serve these systems. */
  get cluster(): Cluster {
    return this.#engine.cluster;
  }

  /** Yields the open systems, evaluated at each step; the caller holds one before the next step if it works with it. */
  *opened(): IterableIterator<System> {
    for (const open of this.#open.values()) if (open instanceof System) yield open;
  }

  /** Returns the systems that are not open here. @throws unavailable */
  async closed(): Promise<readonly SystemEntry[]> {
    await this.appIds();
    return Array.from(this.#registrations.values(), ({ entry }) => entry).filter(({ appId }) => !this.#open.has(appId));
  }

  /** The ids of the systems that are not held, by application id, as of the last reload. A new object if they may have changed. */
  get active(): ReadonlyMap<string, string> {
    return this.#active;
  }

  /** Counts the systems by state. While the registry cannot be reached, they are counted as they were before: the metrics report the outage. */
  async counts(): Promise<SystemCounts> {
    const current = this.appIds().catch((error: unknown) => {
      if (!isPassing(error)) throw error;
    });
    await Promise.race([current, wait(COUNTS_WAIT_MS, undefined, { ref: false })]);
    const all = this.#appIds.length;
    const open: string[] = [];
    for (const { appId, isHeld } of this.opened()) if (!isHeld) open.push(appId);
    return { open, active: this.#active.size, held: all - this.#active.size, removed: this.#removedCount };
  }

  /** Returns the application ids of all systems now. A new object if they may have changed. */
  async appIds(): Promise<readonly string[]> {
    await this.#registry.whenCurrent();
    if (this.#registry.version() !== this.#version) this.#reload();
    return this.#appIds;
  }

  /**
   * Holds a system during some work that is no use of it, for loops over many systems: if it was opened for this, it is closed at the end of the last
   * such work, unless it was used meanwhile.
   * @returns `undefined` if there is no such system
   */
  async visit<T>(appId: string, work: (system: System) => Promise<T>): Promise<T | undefined> {
    const system = await this.#acquire(appId, false);
    if (!system) return undefined;
    try {
      return await work(system);
    } finally {
      system.release();
      if (system.isFree && system.uses === 0 && this.#open.get(appId) === system) {
        this.#open.delete(appId);
        this.#close(system);
        await this.#closing.get(system.store.place);
      }
    }
  }

  /**
   * Yields the systems that have any of the rows, or that have to be opened to know: it looks at those that are closed without opening them.
   * @param wanted different tables or fields
   * @throws unavailable, if the registry is
   */
  async *withRows(wanted: readonly PendingRows[]): AsyncGenerator<string> {
    await this.appIds();
    const systems = Array.from(this.#registrations.values(), ({ entry }) => entry);
    const isOpen = (appId: string) => this.#open.has(appId);
    yield* systemsWith(wanted, { systems, isOpen, registry: this.#registry, engine: this.#engine });
  }

  async #openSystem(registration: Registration): Promise<void> {
    const { appId, id, place } = registration.entry;
    const opening = (async () => {
      await this.#closing.get(place);
      const known = await this.#registry.storeOf(appId);
      // It is being exchanged: the caller retries once the registry has the new one.
      if (known && known.systemId !== id) return void (await wait(EXCHANGE_POLL_MS));
      const store = await openStore(this.#engine, this.#registry, appId, 'serving', (since) =>
        this.#events.missing(appId, since),
      ).catch((error) => this.#refused.refuse(appId, id, error));
      this.#refused.accept(appId);
      const now = this.#registrations.get(appId);
      const system = new System(now ?? registration, store, this.#keyGuard);
      if (now?.entry.id === id) this.#open.set(appId, system);
      else await system.close();
    })();
    this.#open.set(appId, opening);
    try {
      await opening;
    } finally {
      if (this.#open.get(appId) === opening) this.#open.delete(appId);
    }
  }

  /** Returns `undefined` while the registry cannot be read: the known content stays in force. @throws unavailable if none is known */
  #content(): RegistryContent | undefined {
    try {
      return this.#registry.read();
    } catch (error) {
      if (Number.isNaN(this.#version) || !isPassing(error)) throw error;
      return undefined;
    }
  }

  #reload(): void {
    // Taken before reading, so that a concurrent change is noticed at the next request.
    const version = this.#registry.version();
    const content = this.#content();
    if (!content) return;
    const { systems, removed, keys } = content;
    this.#version = version;
    const keysOf = Map.groupBy(keys, (key: KeyEntry) => key.appId);
    const registrations = new Map<string, Registration>();
    for (const entry of systems) {
      const { appId } = entry;
      const noterOf = (name: string) => this.#keyUses.of(appId, name);
      registrations.set(appId, new Registration(entry, keysOf.get(appId) ?? [], this.#registry.salt, noterOf));
    }
    for (const [appId, open] of this.#open) this.#follow(appId, open, registrations.get(appId));
    this.#registrations = registrations;
    this.#refused.forget((appId) => !registrations.has(appId));
    this.#appIds = [...registrations.keys()];
    this.#removed = new Set(removed.map(ownId));
    this.#removedCount = removed.length;
    this.#active = new Map(systems.flatMap(({ appId, id, heldAt }) => (heldAt === null ? [[appId, id]] : [])));
  }

  /** Gives an open system its new keys, or closes it if it was removed, or removed and added again. A system that is opening checks by itself. */
  #follow(appId: string, open: System | Promise<void>, now: Registration | undefined): void {
    const id = this.#registrations.get(appId)?.entry.id;
    if (now && now.entry.id === id) {
      if (open instanceof System) open.registration = now;
      return;
    }
    if (!(open instanceof System)) return;
    this.#open.delete(appId);
    this.#close(open);
  }

  #closeIdle(): void {
    for (const [appId, system] of this.#open)
      if (system instanceof System && system.wasIdle()) {
        this.#open.delete(appId);
        this.#close(system);
      }
  }

  #close(system: System): void {
    const { place } = system.store;
    const closed = system
      .close()
      .catch(this.#reportFault)
      .then(() => {
        if (this.#closing.get(place) === closed) this.#closing.delete(place);
      });
    this.#closing.set(place, closed);
  }

  /** Closes every system, each once it is not held any more. */
  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    await Promise.allSettled([...this.#open.values()].filter((open) => open instanceof Promise));
    for (const open of this.#open.values()) if (open instanceof System) this.#close(open);
    this.#open.clear();
    await Promise.all(this.#closing.values());
    await this.#keyUses.close();
  }
}
