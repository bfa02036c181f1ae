import { type HeldWork, heldWork } from '../../automation/index.ts';
import { type FileStore, storeFile } from '../../files/index.ts';
import { newObjectId } from '../../kernel/ids.ts';
import { tableOf } from '../../schema/model.ts';
import { nameBeside } from '../../storage/places.ts';
import type { Store } from '../../storage/port.ts';
import type { Registry, SystemEntry } from '../../storage/registry.ts';
import { type Administration, newEntry, type Registered, type SystemCredentials } from '../../systems/index.ts';
import type { BackupReader } from './archive-reader.ts';
import { type RestoreEvents, StoreFilling } from './fill-store.ts';
import { refuseFull } from './free-space.ts';
import { fileIdOf, type ManifestPart, totalsOf } from './manifest.ts';
import { readMembers } from './read-members.ts';
import type { RegistryPart } from './registry-part.ts';

/** Identity of the restored system. */
export type RestoreAs =
  /** A new system with new keys. */
  | { readonly kind: 'new'; readonly appId: string }
  /** The original system with its keys; a present system of the same application id is set aside. */
  | { readonly kind: 'replace' };

/** Options of a restore. */
export interface RestoreOptions {
  readonly as: RestoreAs;
  readonly withFiles: boolean;
  /** Whether schedules, triggers and mail resume at once. */
  readonly isActive: boolean;
}

/** Dependencies of a restore. */
export interface RestoreParts {
  readonly administration: Pick<Administration, 'makeSystem'>;
  readonly registry: Pick<Registry, 'read' | 'salt'>;
  /** Called if the backup has files. @throws OperatorError if the file store cannot be reached */
  readonly files: () => Promise<FileStore>;
  /** Creates the folder for a system's files, which may stay empty. */
  readonly makeFilePlace: (place: string) => Promise<void>;
  /** Directory of an embedded store; `null` for a database server. */
  readonly directory: string | null;
}

/** A restored system. */
export interface RestoredBackup {
  readonly appId: string;
  readonly records: number;
  readonly files: number;
  /** Of a new system; shown once, they are not stored elsewhere. */
  readonly credentials: SystemCredentials | null;
  /** Work that waits if the system is held. */
  readonly held: HeldWork;
}

/**
 * Restores a system from a backup. Reference: backup.md#restore. It comes into force as a whole, after all of it was compared with the backup; an
 * interrupted restore leaves nothing, or remains that the next command clears.
 * @throws OperatorError if the application id is taken or the backup is damaged; errors of the source and of the target
 */
export async function restoreBackup(
  parts: RestoreParts,
  reader: BackupReader,
  { as, withFiles, isActive }: RestoreOptions,
  events: RestoreEvents,
): Promise<RestoredBackup> {
  const { manifest } = reader;
  const appId = as.kind === 'new' ? as.appId : manifest.appId;
  if (parts.directory !== null) await refuseFull(parts.directory, sizeOf(manifest.parts, withFiles));
  const heldAt = isActive ? null : Date.now();
  const made = as.kind === 'new' ? newEntry(parts.registry.salt, { appId, name: manifest.name }) : null;
  const id = made?.entry.id ?? newObjectId();
  const isTaken = as.kind === 'replace' && isKnown(parts, appId);
  const place = isTaken ? nameBeside(appId) : appId;
  const totals = totalsOf(manifest);
  let files = 0;
  let held: HeldWork = { schedules: 0, jobs: 0 };
  const fill = async (store: Store): Promise<Registered> => {
    const filling = new StoreFilling(store, totals.records, events);
    // Created even without files: records may name files that are left out, and these must be reported as missing files, not as a missing folder.
    await parts.makeFilePlace(place);
    const known = await readMembers(reader.parts(), manifest.appId, {
      schema: (schema) => filling.makeTables(schema),
      rows: (part, of) => filling.add(part, of),
      async file({ part, bytes }, fileId) {
        if (!withFiles) return;
        await storeFile(await parts.files(), { place, id: fileId }, bytes, part.bytes);
        events.files(++files);
      },
    });
    await filling.finish();
    held = await heldWork(store);
    await forgetVersions(store);
    if (made) return { system: { ...made.entry, place, heldAt }, keys: [made.key] };
    const keySalt = known.salt === parts.registry.salt ? null : known.salt;
    return registeredAs(known, { id, place, heldAt, keySalt });
  };
  const facts = { from: manifest.appId, madeAt: manifest.madeAt, records: totals.records, withFiles, held: heldAt !== null };
  const act = { act: 'restore', subject: appId, after: facts } as const;
  await parts.administration.makeSystem({ id, appId, place, fill, act }, as.kind === 'replace');
  return { appId, records: totals.records, files, credentials: made?.credentials ?? null, held };
}

/** Returns the registry entry of a system that keeps its keys. */
function registeredAs(
  { appId, name, createdAt, masterKeyHash, keys }: RegistryPart,
  own: Pick<SystemEntry, 'id' | 'place' | 'heldAt' | 'keySalt'>,
): Registered {
  const system: SystemEntry = { appId, name, createdAt, masterKeyHash, ...own };
  return { system, keys: keys.map((key) => ({ appId, ...key })) };
}

/** Whether a place of this name is in use, by a present or removed system. */
function isKnown({ registry }: RestoreParts, appId: string): boolean {
  const { systems, removed } = registry.read();
  return [...systems, ...removed].some(({ place }) => place.toLowerCase() === appId.toLowerCase());
}

/** Clears the versions of files: these are assigned by the file store, and the restored bytes have new ones. */
async function forgetVersions(store: Store): Promise<void> {
  if (!store.schema().tables.get('_StoredFile')?.fields.has('version')) return;
  await store.write({
    plan(schema) {
      const table = tableOf(schema, '_StoredFile');
      const field = table.fields.get('version');
      if (!field) return { changes: [], mutations: [] };
      const filter = { kind: 'exists', ref: { field, path: [] } } as const;
      return {
        changes: [],
        mutations: [{ kind: 'updateAll', table, filter, assignments: [{ kind: 'set', field, value: null }] }],
      };
    },
  });
}

const sizeOf = (parts: readonly ManifestPart[], withFiles: boolean): number =>
  parts.filter(({ name }) => withFiles || fileIdOf(name) === null).reduce((sum, { bytes }) => sum + bytes, 0);
