import { createHash } from 'node:crypto';
import { fail } from '../../errors/fail.ts';
import { limits } from '../../kernel/limits.ts';
import { addFile, findFile } from '../metadata/file-metadata.ts';
import type { FileSystem } from '../metadata/model.ts';
import { admit } from '../metadata/usage.ts';
import { encodeName, fileNameOf, parseFileName } from '../stores/name.ts';
import type { FileStore } from '../stores/port.ts';
import { describeType, unknownType } from '../types/index.ts';
import { receive } from './store-upload.ts';
import { requirePlace } from './upload.ts';

/** A file of another service, as records reference it. */
export interface AdoptedFile {
  /** As returned by `adoptedName`. */
  readonly name: string;
  /** Whether a `PrivateFile` field holds it; otherwise a `File` field. */
  readonly isPrivate: boolean;
}

/** Length of a file's id in hexadecimal characters. */
const ID_LENGTH = 32;

/**
 * Returns the name here for a file of another service: unchanged if it has the form of our names, as Parse Server's do; otherwise prefixed with a
 * deterministic id, a hash of the name.
 */
export function adoptedName(name: string): string {
  if (parseFileName(name)) return name;
  return `${createHash('sha256').update(name).digest('hex').slice(0, ID_LENGTH)}_${encodeName(name.toWellFormed())}`;
}

/** @returns whether it was not stored yet. @throws as `Files.adopt` */
export async function adoptFile(
  store: FileStore,
  system: FileSystem,
  { name, isPrivate }: AdoptedFile,
  bytes: () => Promise<AsyncIterable<Buffer>>,
): Promise<boolean> {
  const { id } = parseFileName(name) ?? fail('badFileName');
  if (await findFile(system.store, id)) return false;
  await requirePlace(store, system.store);
  await admit(system.store);
  let contentType = unknownType;
  const file = await receive(await bytes(), store.incoming, limits.largeFileBytes, async (sample, isWhole) => {
    contentType = (await describeType(sample, isWhole, fileNameOf(name))) ?? fail('invalidFileType');
  });
  try {
    // Bytes of an interrupted run that did not record them are kept, because they are the same.
    if (!(await store.stat(system.store.place, id))) await store.put(system.store.place, id, file);
    await addFile(system.store, { id, name, size: file.size, contentType, isPublic: !isPrivate, isPrivate });
    return true;
  } finally {
    await file.discard();
  }
}
