import type { Readable } from 'node:stream';
import type { Encrypter } from 'age-encryption';
import { insertAct, newAct, operator } from '../../acts/index.ts';
import { isPassing } from '../../errors/fail.ts';
import type { FileStore } from '../../files/index.ts';
import type { Engine } from '../../storage/engine.ts';
import type { Store } from '../../storage/port.ts';
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

/** Dependencies of backups and restores. */
export interface BackupParts {
  readonly administration: Administration;
  readonly registry: Registry;
  readonly engine: Engine;
  readonly engineName: Manifest['engine'];
  /** Opens the file store. @throws OperatorError if it cannot be reached */
  readonly files: () => Promise<FileStore>;
  /** Creates the folder for the files of a restored system. */
  readonly makeFilePlace: (place: string) => Promise<void>;
  /** A private directory, since spooled data is not encrypted. */
  readonly spoolDirectory: string;
  /** Directory of embedded stores; `null` for a database server. */
  readonly storeDirectory: string | null;
}

/** Options of a backup. */
export interface BackupOptions {
  readonly withFiles: boolean;
  readonly encrypter: Encrypter | null;
}

/** Options of a restore. */
export interface RestoreRequest {
  /** Age identities for an encrypted backup. */
  readonly identities: readonly string[];
  /** Application id of the new system; `null` restores the original one and sets the present system aside. */
  readonly appId: string | null;
  readonly withFiles: boolean;
  /** Whether schedules, triggers and mail resume at once, i.e. the system is not held (backup.md#held-systems). */
  readonly isActive: boolean;
  /** Called before a present system is set aside. @throws to abort the restore */
  confirm(appId: string): Promise<void>;
}

/** Backs up and restores the systems of an installation, also while other processes serve them. */
export class Backups {
  readonly #parts: BackupParts;

  constructor(parts: BackupParts) {
    this.#parts = parts;
  }

  /** The present systems. */
  systems(): readonly SystemEntry[] {
    return this.#parts.registry.read().systems;
  }

  /** Backs up a system. @throws as `makeBackup`; StoreRefused if the store does not match the registry */
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
      const made = await makeBackup(source, to, encrypter, spoolDirectory, events);
      await recordBackup(store, appId, made);
      return made;
    } finally {
      await store.close();
    }
  }

  /** Restores a backup and closes the source. @throws as `readBackup`, `restoreBackup` */
  async restore(
    source: Readable,
    { identities, appId, withFiles, isActive, confirm }: RestoreRequest,
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

/** A backup of a system that cannot be written now is one all the same. */
async function recordBackup(store: Store, appId: string, { name, bytes, records, files }: MadeBackup): Promise<void> {
  const act = newAct({ act: 'backup', subject: appId, after: { file: name, bytes, records, files } }, operator);
  try {
    await store.write({ plan: (schema) => ({ changes: [], mutations: insertAct(schema, act) }) });
  } catch (error) {
    if (!isPassing(error)) throw error;
  }
}

const filesOf = (bytes: FileStore, place: string): FileSource => ({ open: (id) => bytes.open(place, id) });
