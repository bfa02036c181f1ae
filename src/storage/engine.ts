import type { Cluster } from './cluster.ts';
import type { Found, KnownStore, Removable, StoredPlace, StoreIdentity } from './identity.ts';
import type { Store } from './port.ts';

/**
 * What a store is opened for: with `serving` its generation grows; with `making` it stays one that is being made, with the others it is in force
 * from then on.
 */
export type Purpose = 'serving' | 'work' | 'making';

export type GenerationGrown = (generation: number) => Promise<void>;

/** A store that was opened, and what was found. */
export interface OpenedStore {
  readonly store: Store;
  /** As it is now. */
  readonly identity: StoreIdentity;
  /** From when on writes may be missing that were acknowledged, in milliseconds since 1970; `null` where nothing says so. */
  readonly missingSince: number | null;
}

/** Keeps others from making a store in a place. */
export interface PlaceLock {
  release(): Promise<void>;
}

/** Opens, makes and removes stores; one for each kind of database. Nothing is made because something is missing (docs/adr/0020). */
export interface Engine {
  readonly cluster: Cluster;
  /** Makes ready what the first long read would else wait for. */
  warmUp(): void;
  /**
   * Has a place to this process for as long as a store is made or cleared there; the end of the process releases it.
   * @returns `null` where somebody else has it
   */
  lockPlace(place: string): Promise<PlaceLock | null>;
  /**
   * Makes a store, in the place of one that the same installation was making (`StoreIdentity.making`).
   * @param place its name (places.ts); the application id where it is left out
   * @throws OperatorError where anything else is there
   */
  create(identity: StoreIdentity, place?: string): Promise<Store>;
  /**
   * Opens the store that the registry knows, and nothing else; a store or a registry of an earlier version, which know nothing yet, are trusted.
   * @param grown told, and waited for, when the generation has grown once more: before a store that was served is closed, so that a copy that
   *   was made meanwhile is older than it
   * @throws StoreRefused where another one is there, or none; it stays as it is. unavailable for a fault that can pass
   */
  open(known: KnownStore, purpose: Purpose, grown?: GenerationGrown): Promise<OpenedStore>;
  /** What is in a place. It stays as it is. */
  inspect(place: string): Promise<Found>;
  /** Every place where something is. @param except names of those that are passed over */
  stored(except?: ReadonlySet<string>): Promise<readonly StoredPlace[]>;
  /**
   * Names of places where an installation was making a store, or removing one that it was making.
   * @param making its mark
   * @param except names of those that are passed over
   */
  unfinished(making: string, except: ReadonlySet<string>): Promise<readonly string[]>;
  /**
   * Gives a store that is there another identity, durably, for a registry that is to take it in.
   * @param place its application id where it is left out
   * @throws StoreRefused where there is none
   */
  identify(identity: StoreIdentity, place?: string): Promise<void>;
  /** Reads all of a store that is open or not, as far as the engine keeps checksums or structure of its own. @returns what is wrong; `null`: nothing */
  verify(place: string): Promise<string | null>;
  /** Whether it can be read and written now: reads, and where writes are the machine's own writes. Cheap. @throws where it cannot */
  probe(): Promise<void>;
  /** Removes all data in a place, where there is any. @throws OperatorError where what is there may not be removed */
  remove(place: string, owner: Removable): Promise<void>;
  /** Ends reader threads and connections. */
  close(): Promise<void>;
}
