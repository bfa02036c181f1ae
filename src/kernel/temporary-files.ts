import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { newSecret } from './ids.ts';
import { hasEnded, processMark } from './process-mark.ts';
import { HOUR_MS } from './time.ts';

/** Milliseconds without writes after which a file counts as left by a crash. */
const ABANDONED_AFTER_MS = HOUR_MS;

/** Returns a name for a temporary file of this process: `START.MARK.SECRET.END`. @param end without dots */
export const temporaryName = (start: string, end: string): string => `${start}.${processMark()}.${newSecret()}.${end}`;

/**
 * Removes temporary files that a crash left: those of processes that have certainly ended, at once; those of other machines after an hour without
 * writes. Files that cannot be removed stay.
 * @throws errors of the operating system if the directory cannot be read
 */
export async function clearTemporaryFiles(directory: string, start: string, end: string): Promise<void> {
  const before = Date.now() - ABANDONED_AFTER_MS;
  for (const name of await readdir(directory)) {
    if (!name.startsWith(start) || !name.endsWith(`.${end}`)) continue;
    const path = join(directory, name);
    const mark = name.split('.').at(-3) ?? '';
    const isLeft = hasEnded(mark) || ((await stat(path).catch(() => null))?.mtimeMs ?? before) < before;
    if (isLeft) await rm(path, { force: true }).catch(() => {});
  }
}
