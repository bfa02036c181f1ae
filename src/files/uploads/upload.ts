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
 * Takes a file: its bytes first, then the row, so that no row is without bytes.
 * @returns its name
 * @throws badFileName (122), fileTooLarge (413), emptyFile (130), invalidFileType (403)
 */
export async function takeUpload(
  store: FileStore,
  system: FileSystem,
  fileName: string,
  saidType: string | undefined,
  bytes: AsyncIterable<Buffer>,
): Promise<string> {
  const { id, name } = newFileName(fileName);
  await requirePlace(store, system.store);
  let contentType = unknownType;
  const file = await receive(bytes, store.incoming, limits.fileBytes, async (sample, isWhole) => {
    contentType = await detectType(sample, isWhole, fileName, saidType);
  });
  try {
    await store.put(system.store.place, id, file);
    await addFile(system.store, { id, name, size: file.size, contentType });
  } catch (error) {
    // A row in doubt may come to be after this: its bytes stay, and a sweep finds them where it did not.
    if (!isInDoubt(error)) await undo(store, system, id);
    throw error;
  } finally {
    await file.discard();
  }
  return name;
}

/** @throws unavailable where the place of the system's files is missing, which has some */
export async function requirePlace(bytes: FileStore, store: Store): Promise<void> {
  await bytes.ready?.(store.place, async () => (await readUsage(store)).files > 0);
}

/** What is sent under a wrong key is nobody's. @throws permissionDenied (119) */
export function refuseWrongKey({ kind }: Principal): void {
  if (kind === 'invalid') fail('permissionDenied', 'create', fileTable);
}

/** Where it is not known whether the row is there, the bytes stay: a sweep finds them. */
async function undo(store: FileStore, { store: records }: FileSystem, id: string): Promise<void> {
  try {
    if (!(await findFile(records, id))) await store.remove(records.place, id);
  } catch {
    // The error that led here is the one to tell.
  }
}

/** The file of a name from outside. @returns `null` where there is none */
export async function findGiven({ store }: FileSystem, givenName: string): Promise<FileRow | null> {
  const given = parseFileName(givenName);
  const file = given && (await findFile(store, given.id));
  return file && given.candidates.includes(file.name) ? file : null;
}

/** Removes a file where there is one: its row first, then its bytes, which a sweep finds where that fails. */
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
