import type { KnownStore, StoreIdentity, StoreNote } from './identity.ts';

/** A system as the registry knows it. */
export interface SystemEntry {
  /** Never used twice, unlike the application id, which is free again once its system is removed. */
  readonly id: string;
  readonly appId: string;
  /** Where its store and its files lie (places.ts). */
  readonly place: string;
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly masterKeyHash: string;
  /** From when on its schedules, triggers and mail wait, in milliseconds since 1970; `null`: they do not. */
  readonly heldAt: number | null;
  /** That its keys are hashed with, of one that another installation has made; `null`: that of this one. */
  readonly keySalt: string | null;
}

/** An API key of a system. Its name is what revokes it (SPEC "Authentication" rule 2). */
export interface KeyEntry {
  readonly appId: string;
  readonly name: string;
  readonly hash: string;
  readonly createdAt: number;
}

/** A system that was removed and is kept for a while: nobody is served from it, and its application id stays taken. */
export interface RemovedSystem extends SystemEntry {
  /**
   * Its application id, of one that was put aside in exchange for another of the same: `appId` is then a name of its own (`nameBeside`). The
   * hashes of its keys, and its store, hold under the former id alone. `null`: `appId` is it.
   */
  readonly formerAppId: string | null;
  /** When it may be deleted, in milliseconds since 1970; 0: its deletion has begun. */
  readonly deleteAfter: number;
}

/** All that the registry holds, as of one moment. */
export interface RegistryContent {
  /** Those in force. */
  readonly systems: readonly SystemEntry[];
  readonly removed: readonly RemovedSystem[];
  /** Of all of them. */
  readonly keys: readonly KeyEntry[];
}

/** Which process of a service makes the backups that are due. */
export interface BackupTurn {
  /** When they became due, in milliseconds since 1970. */
  readonly due: number;
  /** `Cluster.processId` */
  readonly processId: string;
  /** Whether they were made, or failed. */
  readonly isDone: boolean;
}

/** When an API key was last used. */
export interface KeyUse {
  readonly appId: string;
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** What becomes of a system whose application id another one takes. */
export interface Exchange {
  /** As of `RemovedSystem`; of one that was removed before, its own stays. */
  readonly deleteAfter: number;
  /** One that may be deleted by then is not exchanged. Milliseconds since 1970. */
  readonly now: number;
}

/** How a system is added. */
export interface Addition {
  /** Only where there is no system yet, a removed one neither. */
  readonly onlyFirst?: boolean;
  /** In exchange for the one that has its application id, in force or removed, where there is one. */
  readonly replace?: Exchange;
}

/** A store that was made or taken in for a system. @see KnownStore.noticedAt */
export type PreparedStore = StoreIdentity & { readonly noticedAt?: number };

/** The systems of an installation are served from the other kind of store. */
export interface MovedMark {
  readonly to: 'postgres' | 'embedded';
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** The systems of a service and their keys. Other processes may change it at any time. */
export interface Registry {
  /** Random text of this installation, for the hashes of its keys. */
  readonly salt: string;
  /**
   * Takes the salt of another installation, whose keys are to be good here, too; for commands.
   * @returns whether it could: it cannot where there are systems, whose keys would no longer be good
   */
  takeSalt(salt: string): Promise<boolean>;
  /** Where the systems were moved to, as of when the registry was opened or marked. */
  moved(): MovedMark | null;
  /** Says that they were moved, or, by `null`, that they are served from here. */
  markMoved(mark: MovedMark | null): Promise<void>;
  /** Waits, where that is not certain, until it is known what other processes changed up to half a second ago. @throws unavailable */
  whenCurrent(): Promise<void>;
  /** Whether `whenCurrent` has nothing to wait for. */
  isCurrent(): boolean;
  /** Cheap; another number once anybody has changed the content, as far as it is known. */
  version(): number;
  read(): RegistryContent;
  /**
   * Adds a system with its keys, unless its application id is taken in whatever case of letters, also by a removed system, or its place is.
   * @param prepare makes the system's store and says what it is; where it fails, or the process ends within, nothing is added
   * @returns whether it was added
   */
  addSystem(
    system: SystemEntry | RemovedSystem,
    keys: readonly KeyEntry[],
    prepare: () => Promise<PreparedStore | undefined>,
    how?: Addition,
  ): Promise<boolean>;
  /**
   * Takes a system out of force, with all that it has left as it is; one that is out of force may only be deleted earlier by it.
   * @param deleteAfter as of `RemovedSystem`
   * @returns whether that changed anything
   */
  removeSystem(appId: string, deleteAfter: number): Promise<boolean>;
  /**
   * Puts a removed system back in force, under its application id. Another removed one that has this id is exchanged.
   * @param appId as of `RemovedSystem`
   * @param replace left out: not where one of this application id is in force
   * @returns whether there was one that may not be deleted by `now`, and its application id was to be had
   */
  restoreSystem(appId: string, now: number, replace?: Exchange): Promise<boolean>;
  /**
   * Has the schedules, triggers and mail of a system in force wait, or go on.
   * @param at from when on, in milliseconds since 1970; `null`: they go on
   * @returns whether that changed anything
   */
  holdSystem(appId: string, at: number | null): Promise<boolean>;
  /**
   * Deletes a removed system that may be deleted by `now`. Where the work is cut off, the system cannot be restored any more, and its
   * deletion can be begun again.
   * @param work deletes what it has; it is not done by two processes at a time
   * @returns whether it did: not where there is no such system, or another process is at it
   */
  deleteSystem(appId: string, now: number, work: () => Promise<void>): Promise<boolean>;
  /** Drops a system, in force or removed, with its keys, and leaves all that it has where it is. @returns whether there was one */
  forgetSystem(appId: string): Promise<boolean>;
  /** What is known of the store of a system, in force or removed, as of now; `null` where there is no such system. */
  storeOf(appId: string): Promise<KnownStore | null>;
  /** The same of all systems. */
  stores(): Promise<readonly KnownStore[]>;
  /** Notes what is new about a store; `version` stays. @throws where somebody else writes at the time */
  noteStore(systemId: string, note: StoreNote): Promise<void>;
  /** @returns whether the name was free and the system is there */
  addKey(key: KeyEntry): Promise<boolean>;
  /** @returns whether there was one */
  removeKey(appId: string, name: string): Promise<boolean>;
  /** Notes when keys were used, where that is later than what is known; `version` stays. @throws where somebody else writes at the time */
  noteUses(uses: readonly KeyUse[]): Promise<void>;
  /** When the keys of a system were last used; those that were not are missing. */
  lastUses(appId: string): Promise<readonly KeyUse[]>;
  /** The last turn that a process took; `null` where none ever did. @throws unavailable */
  backupTurn(): Promise<BackupTurn | null>;
  /**
   * Notes a turn, where the last one is still the one that is known; `version` stays.
   * @returns whether it was: of several processes one is first
   */
  takeBackupTurn(known: BackupTurn | null, turn: BackupTurn): Promise<boolean>;
  close(): void;
}
