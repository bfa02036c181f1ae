import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoredPlace } from '../identity.ts';

/** Returns the path of a system's file, given its folder. */
export const fileOf = (folder: string): string => join(folder, FILE);

const FILE = 'records.sqlite';
/** Name prefix of the files that exist while a place is locked. */
export const LOCK = '.lock-';

/**
 * Lists the files of systems in a directory, including systems of which only a WAL is left.
 * @param directory the parent of the systems' folders; if it is missing there are none
 * @param except names of places to skip
 */
export async function storedFiles(directory: string, except: ReadonlySet<string> = new Set()): Promise<StoredPlace[]> {
  const places: StoredPlace[] = [];
  const others = (await namesIn(directory)).filter((name) => !name.startsWith('.') && !except.has(name));
  for (const name of others.toSorted())
    if ((await namesIn(join(directory, name))).some((file) => file.startsWith(FILE)))
      places.push({ name, place: fileOf(join(directory, name)) });
  return places;
}

/** Returns the names in a directory; none if it is missing. */
export async function namesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(String((error as NodeJS.ErrnoException).code))) return [];
    throw error;
  }
}

/** Files whose sizes are read at the same time. All file operations of the process share a few threads. */
const MAX_CONCURRENT = 4;

/** Returns the bytes of stores: the file and its log. A store without a readable file is left out. */
export async function sizesOf(places: readonly string[], pathOf: (place: string) => string): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  for (let at = 0; at < places.length; at += MAX_CONCURRENT)
    await Promise.all(
      places.slice(at, at + MAX_CONCURRENT).map(async (place) => {
        const path = pathOf(place);
        const [file, log] = await Promise.all([bytesOf(path), bytesOf(`${path}-wal`)]);
        if (file !== null) sizes.set(place, file + (log ?? 0));
      }),
    );
  return sizes;
}

const bytesOf = (path: string): Promise<number | null> =>
  stat(path).then(
    ({ size }) => size,
    () => null,
  );
