import type { ReadLane } from '../observe/index.ts';
import type { Cluster } from './cluster.ts';
import type { Found, KnownStore, Removable, StoredPlace, StoreIdentity } from './identity.ts';
import type { Level } from './migrations.ts';
import type { Store } from './port.ts';

/** Why a store is opened. `serving` increments its generation. `making` leaves it marked as being created; the other purposes put it into force. */
export type Purpose = 'serving' | 'work' | 'making';

export type GenerationGrown = (generation: number) => Promise<void>;

/** A store that was opened, and its state. */
export interface OpenedStore {
  readonly store: Store;
  /** As it is now. */
  readonly identity: StoreIdentity;
  /** Time from which acknowledged writes may be missing, in milliseconds since 1970; `null` if there is no sign of that. */
  readonly missingSince: number | null;
}

/** Rows in one of the service's own tables that stand for work to do. */
export interface PendingRows {
  readonly className: string;
  /** A plain field: only rows with a value in it count, or with one of these values. Left out: every row. */
  readonly field?: string;
  readonly values?: readonly string[];
}

/** Prevents others from creating a store at a place. */
export interface PlaceLock {
  release(): Promise<void>;
}

/** What of a database cannot be reached although the database works: nodes of a cluster, and the systems that lie there. 0 without a cluster. */
export interface Unreachable {
  readonly nodes: number;
  readonly systems: number;
}

/** What an engine does now. */
export interface EngineLoad {
  /** Running reads, by where they run. */
  readonly reads: Readonly<Partial<Record<ReadLane, number>>>;
  /** Connections of this process to a database server; `null`: there is none. */
  readonly connections: { readonly busy: number; readonly idle: number } | null;
}

/** Opens, creates and removes stores; one implementation per kind of database. A missing store is never created implicitly (docs/adr/0020). */
export interface Engine {
  readonly cluster: Cluster;
  /** Prepares in advance what the first long read would otherwise wait for. */
  warmUp(): void;
  /**
   * Locks a place for this process while a store is created or cleared there. The end of the process releases the lock.
   * @returns `null` if another process holds it
   */
  lockPlace(place: string): Promise<PlaceLock | null>;
  /**
   * Creates a store. One that the same installation was creating at this place (`StoreIdentity.making`) is replaced.
   * @param place its name (places.ts); default: the application id
   * @throws OperatorError if anything else is at the place
   */
  create(identity: StoreIdentity, place?: string): Promise<Store>;
  /**
   * Opens the store that the registry knows, and no other. Stores and registries of earlier versions have no identity yet and are trusted.
   * @param grown called and awaited when a served store closes, after its generation has been incremented once more. A copy that was made while it
   * was served is thus recognisably older.
   * @throws StoreRefused if there is another store or none; it is left unchanged. unavailable for a transient fault
   */
  open(known: KnownStore, purpose: Purpose, grown?: GenerationGrown): Promise<OpenedStore>;
  /**
   * Returns the system ids of those stores that may stay closed: they are the ones that the registry knows, have this version and none of the rows. A
   * fraction of the cost of opening them, and nothing is written. A store about which anything is in doubt is left out; never rejects.
   * @param stores that are not open here, some dozens
   * @param version `Schema.templateVersion`
   * @param wanted different tables or fields
   */
  atRest(stores: readonly KnownStore[], version: number, wanted: readonly PendingRows[]): Promise<ReadonlySet<string>>;
  /** Returns what is at a place, without changing it. */
  inspect(place: string): Promise<Found>;
  /** Returns every place that holds something. @param except names of places to skip */
  stored(except?: ReadonlySet<string>): Promise<readonly StoredPlace[]>;
  /**
   * Returns the names of places where an installation was creating a store, or removing one that it was creating.
   * @param making its mark
   * @param except names of places to skip
   */
  unfinished(making: string, except: ReadonlySet<string>): Promise<readonly string[]>;
  /**
   * Gives an existing store another identity, durably, for a registry that is about to adopt it.
   * @param place default: its application id
   * @throws StoreRefused if there is no store
   */
  identify(identity: StoreIdentity, place?: string): Promise<void>;
  /**
   * Returns how far a store is migrated: its own migrations that are pending, and the level of its system. Changes nothing.
   * @throws OperatorError if a later version of the service has changed it
   */
  levels(place: string): Promise<{ readonly pending: number; readonly system: Level }>;
  /** Reads a whole store, open or not, and checks the checksums or structure that the engine keeps. @returns what is wrong; `null`: nothing */
  verify(place: string): Promise<string | null>;
  /**
   * Checks cheaply that reads work now, and writes too if this machine does them itself. A node of a cluster that is away is no failure.
   * @throws if they do not
   */
  probe(): Promise<Unreachable>;
  /** What it does now. Only numbers that are kept anyway. */
  load(): EngineLoad;
  /**
   * Returns the approximate sizes of stores in bytes, by the names of their places, without opening them. A store that cannot be looked at is left out.
   * @throws unavailable
   */
  sizes(places: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Returns a function from the name of a place to the node of the cluster, `host:port`, where its store lies; `null` if it lies on no node. */
  nodes(): Promise<(place: string) => string | null>;
  /** Removes all data at a place, if there is any. @throws OperatorError if it may not be removed */
  remove(place: string, owner: Removable): Promise<void>;
  /** Ends reader threads and closes connections. */
  close(): Promise<void>;
}
