/** A system as the registry knows it. */
export interface SystemEntry {
  /** Never used twice, unlike the application id, which is free again once its system is removed. */
  readonly id: string;
  readonly appId: string;
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly masterKeyHash: string;
}

/** An API key of a system. Its name is what revokes it (SPEC "Authentication" rule 2). */
export interface KeyEntry {
  readonly appId: string;
  readonly name: string;
  readonly hash: string;
  readonly createdAt: number;
}

/** All that the registry holds, as of one moment. */
export interface RegistryContent {
  readonly systems: readonly SystemEntry[];
  readonly keys: readonly KeyEntry[];
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
  /** Waits, where that is not certain, until it is known what other processes changed up to half a second ago. @throws unavailable */
  whenCurrent(): undefined | Promise<void>;
  /** Cheap; another number once anybody has changed the content, as far as it is known. */
  version(): number;
  read(): RegistryContent;
  /**
   * Adds a system with its keys, unless its application id is taken in whatever case of letters.
   * @param prepare makes the system's store; where it fails, or the process ends within, nothing is added
   * @param onlyFirst adds it only where there is no system yet
   * @returns whether it was added
   */
  addSystem(system: SystemEntry, keys: readonly KeyEntry[], prepare: () => Promise<void>, onlyFirst?: boolean): Promise<boolean>;
  /** @returns whether there was one */
  removeSystem(appId: string): Promise<boolean>;
  /** @returns whether the name was free and the system is there */
  addKey(key: KeyEntry): Promise<boolean>;
  /** @returns whether there was one */
  removeKey(appId: string, name: string): Promise<boolean>;
  close(): void;
}
