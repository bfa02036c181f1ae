import { type FileStore, storeFile } from '../../files/index.ts';
import type { Store } from '../../storage/port.ts';
import { chunkedRows } from '../../storage/raw-access.ts';
import { placesOf } from './row-changes.ts';
import { fileTable } from './shares.ts';

/** Files that are copied at a time: each waits for its disk or its bucket. */
const CONCURRENCY = 8;

/** Number of files of a clone. */
export interface CopiedFiles {
  readonly files: number;
  /** Files that the original knows but that have no bytes, or were deleted meanwhile. */
  readonly missingFiles: number;
}

/**
 * Copies the bytes of the files that a clone's rows name.
 * @param store of the clone, with its rows
 * @param from place of the original
 * @param copied called with the number of files so far
 * @throws unavailable; errors of the operating system
 */
export async function copyFiles(
  bytes: FileStore,
  store: Store,
  from: string,
  copied: (files: number) => void,
): Promise<CopiedFiles> {
  const table = store.schema().tables.get(fileTable);
  let files = 0;
  let missingFiles = 0;
  if (!table) return { files, missingFiles };
  const at = placesOf(table).get('objectId') ?? 0;
  const copy = async (id: string) => {
    if (await copyFile(bytes, id, from, store.place)) copied(++files);
    else missingFiles++;
  };
  for await (const rows of chunkedRows(store.raw, table, 0)) {
    const ids = rows.map((row) => String(row[at]));
    for (let start = 0; start < ids.length; start += CONCURRENCY)
      await Promise.all(ids.slice(start, start + CONCURRENCY).map(copy));
  }
  return { files, missingFiles };
}

/** @returns whether the file has bytes */
async function copyFile(bytes: FileStore, id: string, from: string, to: string): Promise<boolean> {
  const object = await bytes.stat(from, id);
  const content = object && (await bytes.open(from, id, undefined, object.version));
  if (!content) return false;
  await storeFile(bytes, { place: to, id }, content, object.size);
  return true;
}
