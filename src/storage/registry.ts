import type { KnownStore, StoreIdentity, StoreNote } from './identity.ts';

/** A system as the registry knows it. */
export interface SystemEntry {
  /** Never reused, unlike the application id, which is free again once its system is deleted. */
  readonly id: string;
  readonly appId: string;
  /** Location of its store and its files (places.ts). */
  readonly place: string;
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly masterKeyHash: string;
  /** Time since when its schedules, triggers and mail are on hold, in milliseconds since 1970; `null`: they are not. */
  readonly heldAt: number | null;
  /** Salt of its key hashes if another installation created the system; `null`: the salt of this installation. */
  readonly keySalt: string | null;
}

/** An API key of a system, revoked by its name. Reference: authentication.md#keys. */
export interface KeyEntry {
  readonly appId: string;
  readonly name: string;
  readonly hash: string;
  readonly createdAt: number;
}

/** A removed system in its retention period: it is not served, and its application id stays taken. */
export interface RemovedSystem extends SystemEntry {
  /**
   * The application id of a system that was put aside in exchange for another one with the same id; `appId` is then a derived name (`nameBeside`).
   * The hashes of its keys, and its store, are valid under the former id only. `null`: `appId` is the id.
   */
  readonly formerAppId: string | null;
  /** Time after which it may be deleted, in milliseconds since 1970; 0: its deletion has begun. */
  readonly deleteAfter: number;
}

/** The contents of the registry at one moment. */
export interface RegistryContent {
  /** Systems in force. */
  readonly systems: readonly SystemEntry[];
  readonly removed: readonly RemovedSystem[];
  /** Keys of both. */
  readonly keys: readonly KeyEntry[];
}

/** Which process of a service makes the backups that are due. */
export interface BackupTurn {
  /** When they became due, in milliseconds since 1970. */
  readonly due: number;
  /** `Cluster.processId` */
  readonly processId: string;
  /** Whether they have been made or have failed. */
  readonly isDone: boolean;
}

/** When an API key was last used. */
export interface KeyUse {
  readonly appId: string;
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/**
 * An act of administration whose state is in the registry: committed with it, and delivered to the log of its system, which is another database, by
 * the next process that opens the system.
 */
export interface RegistryAct {
  readonly id: string;
  /** The act as JSON. */
  readonly text: string;
}

/** How to put aside a system whose application id another system takes. */
export interface Exchange {
  /** As in `RemovedSystem`; a system that was removed before keeps its own. */
  readonly deleteAfter: number;
  /** A system that may be deleted by this time is not exchanged. Milliseconds since 1970. */
  readonly now: number;
  /** Of the system that is put aside. */
  readonly act?: RegistryAct;
}

/** How a system is added. */
export interface Addition {
  /** Only if there is no system yet, removed ones included. */
  readonly onlyFirst?: boolean;
  /** Put aside the system that has the application id, in force or removed, if there is one. */
  readonly replace?: Exchange;
  /** Of the added system. */
  readonly act?: RegistryAct;
  /** Of another system, of which it was made. */
  readonly original?: { readonly appId: string; readonly act: RegistryAct };
}

/** A store that was created or adopted for a system. @see KnownStore.noticedAt */
export type PreparedStore = StoreIdentity & {
  readonly noticedAt?: number;
  /** The system that an adopted store had; the new one gets what was not delivered to it. */
  readonly formerSystemId?: string;
};

/** The systems of an installation have been moved to the other kind of store and are served from there. */
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
   * Adopts the salt of another installation so that its keys are valid here too; for commands.
   * @returns false if there are systems, whose keys would become invalid
   */
  takeSalt(salt: string): Promise<boolean>;
  /** Returns where the systems were moved to, as of the time when the registry was opened or marked. */
  moved(): MovedMark | null;
  /** Records that the systems were moved or, with `null`, that they are served from here. */
  markMoved(mark: MovedMark | null): Promise<void>;
  /** Waits, if necessary, until the changes that other processes made up to half a second ago are known. @throws unavailable */
  whenCurrent(): Promise<void>;
  /** Returns whether `whenCurrent` has nothing to wait for. */
  isCurrent(): boolean;
  /** Returns a number that changes with the content, as far as it is known. Cheap. */
  version(): number;
  read(): RegistryContent;
  /**
   * Adds a system with its keys, unless its application id (ignoring case) or its place is taken, by a removed system too.
   * @param prepare creates the system's store and returns what it is; if it fails or the process ends meanwhile, nothing is added
   * @returns whether it was added
   */
  addSystem(
    system: SystemEntry | RemovedSystem,
    keys: readonly KeyEntry[],
    prepare: () => Promise<PreparedStore | undefined>,
    how?: Addition,
  ): Promise<boolean>;
  /**
   * Takes a system out of force and leaves all its data. For a system that is out of force already, it can only make the deletion earlier.
   * @param deleteAfter as in `RemovedSystem`
   * @returns whether that changed anything
   */
  removeSystem(appId: string, deleteAfter: number, act?: RegistryAct): Promise<boolean>;
  /**
   * Puts a removed system back in force, under its application id. Another removed system that has this id is exchanged.
   * @param appId as in `RemovedSystem`
   * @param replace how to put aside the system in force; without it, one that has the application id prevents the restore
   * @returns whether there is such a system, not yet due for deletion at `now`, and its application id was free
   */
  restoreSystem(appId: string, now: number, replace?: Exchange, act?: RegistryAct): Promise<boolean>;
  /**
   * Holds or resumes the schedules, triggers and mail of a system in force.
   * @param at hold since this time, in milliseconds since 1970; `null`: resume
   * @returns whether that changed anything
   */
  holdSystem(appId: string, at: number | null, act?: RegistryAct): Promise<boolean>;
  /**
   * Deletes a removed system that may be deleted by `now`. After an interruption the system can no longer be restored, and its deletion can be
   * started again.
   * @param work deletes its data; two processes never run it at the same time
   * @returns false if there is no such system, or another process is deleting it
   */
  deleteSystem(appId: string, now: number, work: () => Promise<void>): Promise<boolean>;
  /** Drops a system, in force or removed, with its keys, and leaves its data and its undelivered acts. @returns whether there was one */
  forgetSystem(appId: string, act?: RegistryAct): Promise<boolean>;
  /** Returns what is known now of the store of a system, in force or removed; `null` if there is no such system. */
  storeOf(appId: string): Promise<KnownStore | null>;
  /** Returns the same of all systems. */
  stores(): Promise<readonly KnownStore[]>;
  /** Records new facts about a store; `version` stays. @throws if another process is writing at that time */
  recordStore(systemId: string, note: StoreNote): Promise<void>;
  /** @returns whether the name was free and the system exists */
  addKey(key: KeyEntry, act?: RegistryAct): Promise<boolean>;
  /** @returns whether there was one */
  removeKey(appId: string, name: string, act?: RegistryAct): Promise<boolean>;
  /** Returns the acts of a system that are not known to be in its log, in their order. @throws unavailable */
  undeliveredActs(systemId: string): Promise<readonly RegistryAct[]>;
  /** Removes acts that are in the log of their system; `version` stays. A crash may bring them back. @throws unavailable */
  actsDelivered(ids: readonly string[]): Promise<void>;
  /** Records when keys were used, if that is later than the known time; `version` stays. @throws if another process is writing at that time */
  recordKeyUses(uses: readonly KeyUse[]): Promise<void>;
  /** Returns when the keys of a system were last used; unused ones are missing. */
  lastUses(appId: string): Promise<readonly KeyUse[]>;
  /** Returns the last turn that a process took; `null` if there was none. @throws unavailable */
  backupTurn(): Promise<BackupTurn | null>;
  /**
   * Records a turn if the last one is still `known` (compare and set); `version` stays.
   * @returns whether it was recorded: of several processes one succeeds
   */
  takeBackupTurn(known: BackupTurn | null, turn: BackupTurn): Promise<boolean>;
  close(): Promise<void>;
}
