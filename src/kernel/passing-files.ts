import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { newSecret } from './ids.ts';
import { hasEnded, processMark } from './process-mark.ts';
import { HOUR_MS } from './time.ts';

/** Milliseconds after which a file that nobody has written to is what a crash left. */
const ABANDONED_AFTER_MS = HOUR_MS;

/** A name for a file that is there only for as long as this process works on it: `START.MARK.SECRET.END`. @param end without dots */
export const passingName = (start: string, end: string): string => `${start}.${processMark()}.${newSecret()}.${end}`;

/**
 * Removes files of such names that a crash left: those whose process has ended for certain, at once; of other machines, those that nobody has
 * written to for an hour. One that cannot be removed stays.
 * @throws errors of the operating system where the directory cannot be read
 */
export async function clearPassing(directory: string, start: string, end: string): Promise<void> {
  const before = Date.now() - ABANDONED_AFTER_MS;
  for (const name of await readdir(directory)) {
    if (!name.startsWith(start) || !name.endsWith(`.${end}`)) continue;
    const path = join(directory, name);
    const mark = name.split('.').at(-3) ?? '';
    const isLeft = hasEnded(mark) || ((await stat(path).catch(() => null))?.mtimeMs ?? before) < before;
    if (isLeft) await rm(path, { force: true }).catch(() => {});
  }
}
