import type { Principal } from '../../access/index.ts';
import { fail, isInDoubt } from '../../errors/fail.ts';
import { limits } from '../../kernel/limits.ts';
import { type Conditions, faultPlace } from '../../observe/index.ts';
import type { Store } from '../../storage/port.ts';
import { addFile, fileTable, findFile, readUsage, removeFile } from '../metadata/file-metadata.ts';
import type { FileRow, FileSystem } from '../metadata/model.ts';
import { newFileName, parseFileName } from '../stores/name.ts';
import type { FileStore } from '../stores/port.ts';
import { detectType, unknownType } from '../types/index.ts';
import { receive } from './store-upload.ts';

/**
 * Stores an upload: first its bytes, then its row, so that no row lacks its bytes.
 * @returns its name
 * @throws badFileName (122), fileTooLarge (413), emptyFile (130), invalidFileType (403)
 */
export async function takeUpload(
  store: FileStore,
  system: FileSystem,
  fileName: string,
  declaredType: string | undefined,
  bytes: AsyncIterable<Buffer>,
): Promise<string> {
  const { id, name } = newFileName(fileName);
  await requirePlace(store, system.store);
  let contentType = unknownType;
  const file = await receive(bytes, store.incoming, limits.fileBytes, async (sample, isWhole) => {
    contentType = await detectType(sample, isWhole, fileName, declaredType);
  });
  try {
    await store.put(system.store.place, id, file);
    await addFile(system.store, { id, name, size: file.size, contentType });
  } catch (error) {
    // If the outcome of adding the row is unknown, the bytes stay; without a row the sweep finds them.
    if (!isInDoubt(error)) await removeWithoutRow(store, system, id);
    throw error;
  } finally {
    await file.discard();
  }
  return name;
}

/** @throws unavailable if the location of the system's files is missing although it has files */
export async function requirePlace(bytes: FileStore, store: Store): Promise<void> {
  await bytes.ready?.(store.place, async () => (await readUsage(store)).files > 0);
}

/** Refuses uploads with a wrong key. @throws permissionDenied (119) */
export function refuseWrongKey({ kind }: Principal): void {
  if (kind === 'invalid') fail('permissionDenied', 'create', fileTable);
}

/** Removes the bytes if the row does not exist. If that cannot be determined they stay, and the sweep finds them. */
async function removeWithoutRow(store: FileStore, { store: records }: FileSystem, id: string): Promise<void> {
  try {
    if (!(await findFile(records, id))) await store.remove(records.place, id);
  } catch {
    // The original error is the one to report.
  }
}

/** Finds a file by a name from a client. @returns `null` if there is none */
export async function findGiven({ store }: FileSystem, givenName: string): Promise<FileRow | null> {
  const given = parseFileName(givenName);
  const file = given && (await findFile(store, given.id));
  return file && given.candidates.includes(file.name) ? file : null;
}

/** Deletes a file if it exists: first its row, then its bytes, which the sweep finds if their removal fails. */
export async function removeGiven(
  store: FileStore,
  system: FileSystem,
  givenName: string,
  conditions: Pick<Conditions, 'met'>,
): Promise<void> {
  const file = await findGiven(system, givenName);
  if (!file || !(await removeFile(system.store, file))) return;
  await store.remove(system.store.place, file.id).catch((error: unknown) => {
    conditions.met('the bytes of a deleted file could not be removed', { app: system.appId, ...faultPlace(error) }, error);
  });
}
