import type { Encrypter } from 'age-encryption';
import type { FileStore } from '../../files/index.ts';
import type { Engine } from '../../storage/engine.ts';
import type { Registry, SystemEntry } from '../../storage/registry.ts';
import { openStore } from '../../systems/index.ts';
import type { Destination } from './destinations/destination.ts';
import type { FileSource } from './file-parts.ts';
import { type MadeBackup, makeBackup } from './make-backup.ts';
import type { Manifest } from './manifest.ts';
import type { BackupEvents } from './prepare-backup.ts';

/** What backups are made of, and restored into. */
export interface BackupParts {
  readonly registry: Registry;
  readonly engine: Engine;
  readonly engineName: Manifest['engine'];
  /** Opens the files of all systems. @throws OperatorError where they cannot be reached */
  readonly files: () => Promise<FileStore>;
  /** Of this service's own, for what is not encrypted yet. */
  readonly spoolDirectory: string;
}

/** How a backup is made. */
export interface BackupOptions {
  readonly withFiles: boolean;
  readonly encrypter: Encrypter | null;
}

/** Makes backups of the systems of an installation. Others may serve them meanwhile. */
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
        salt: registry.salt,
        engine: engineName,
        store,
        files: bytes && filesOf(bytes, appId),
      };
      return await makeBackup(source, to, encrypter, spoolDirectory, events);
    } finally {
      await store.close();
    }
  }
}

const filesOf = (bytes: FileStore, place: string): FileSource => ({ open: (id) => bytes.open(place, id) });
