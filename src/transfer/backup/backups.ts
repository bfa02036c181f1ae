import type { Readable } from 'node:stream';
import type { Encrypter } from 'age-encryption';
import type { FileStore } from '../../files/index.ts';
import type { Engine } from '../../storage/engine.ts';
import type { Registry, SystemEntry } from '../../storage/registry.ts';
import { type Administration, openStore } from '../../systems/index.ts';
import { readBackup } from './archive-reader.ts';
import type { Destination } from './destinations/destination.ts';
import type { FileSource } from './file-parts.ts';
import type { RestoreEvents } from './fill-store.ts';
import { type MadeBackup, makeBackup } from './make-backup.ts';
import type { Manifest } from './manifest.ts';
import type { BackupEvents } from './prepare-backup.ts';
import { type RestoredBackup, restoreBackup } from './restore-backup.ts';

/** What backups are made of, and restored into. */
export interface BackupParts {
  readonly administration: Administration;
  readonly registry: Registry;
  readonly engine: Engine;
  readonly engineName: Manifest['engine'];
  /** Opens the files of all systems. @throws OperatorError where they cannot be reached */
  readonly files: () => Promise<FileStore>;
  /** Makes the place of the files of a system that is restored. */
  readonly makeFilePlace: (place: string) => Promise<void>;
  /** Of this service's own, for what is not encrypted yet. */
  readonly spoolDirectory: string;
  /** Where embedded stores lie; `null`: they lie elsewhere. */
  readonly storeDirectory: string | null;
}

/** How a backup is made. */
export interface BackupOptions {
  readonly withFiles: boolean;
  readonly encrypter: Encrypter | null;
}

/** What to restore, and as what. */
export interface RestoreWish {
  /** Keys of age, for a backup that is encrypted. */
  readonly identities: readonly string[];
  /** Of the new system; `null`: it is restored as itself, and the present one is put aside. */
  readonly appId: string | null;
  readonly withFiles: boolean;
  /** Whether it is not held. */
  readonly isActive: boolean;
  /** Asked before a system in force is put aside. @throws what ends the restore */
  confirm(appId: string): Promise<void>;
}

/** Makes backups of the systems of an installation, and systems of backups. Others may serve them meanwhile. */
export class Backups {
  readonly #parts: BackupParts;

  constructor(parts: BackupParts) {
    this.#parts = parts;
  }

  /** Those in force. */
  systems(): readonly SystemEntry[] {
    return this.#parts.registry.read().systems;
  }

  /** @throws as `makeBackup`; StoreRefused where the store is not what the registry says */
  async make(
    entry: SystemEntry,
    to: Destination,
    { withFiles, encrypter }: BackupOptions,
    events: BackupEvents,
  ): Promise<MadeBackup> {
    const { registry, engine, engineName, files, spoolDirectory } = this.#parts;
    const { appId } = entry;
    const bytes = withFiles ? await files() : null;
    const store = await openStore(engine, registry, appId);
    try {
      const source = {
        entry,
        keys: registry.read().keys.filter((key) => key.appId === appId),
        salt: entry.keySalt ?? registry.salt,
        engine: engineName,
        store,
        files: bytes && filesOf(bytes, entry.place),
      };
      return await makeBackup(source, to, encrypter, spoolDirectory, events);
    } finally {
      await store.close();
    }
  }

  /** @param source of a backup, which is closed @throws as `readBackup`, `restoreBackup` */
  async restore(
    source: Readable,
    { identities, appId, withFiles, isActive, confirm }: RestoreWish,
    events: RestoreEvents,
  ): Promise<RestoredBackup> {
    const { administration, registry, files, makeFilePlace, storeDirectory } = this.#parts;
    const reader = await readBackup(source, identities);
    try {
      const present = this.systems().some((one) => one.appId === reader.manifest.appId);
      if (appId === null && present) await confirm(reader.manifest.appId);
      const as = appId === null ? ({ kind: 'replace' } as const) : ({ kind: 'new', appId } as const);
      const parts = { administration, registry, files, makeFilePlace, directory: storeDirectory };
      return await restoreBackup(parts, reader, { as, withFiles, isActive }, events);
    } finally {
      reader.close();
    }
  }
}

const filesOf = (bytes: FileStore, place: string): FileSource => ({ open: (id) => bytes.open(place, id) });
