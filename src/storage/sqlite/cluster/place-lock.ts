import { rmSync, statSync } from 'node:fs';
import { ProcessLock } from './exclusive-access.ts';

/**
 * Takes a lock whose file exists only while it is held.
 * @returns a function that releases it; `null` if it is held, even by this process
 */
export function tryLockPlace(path: string): (() => void) | null {
  for (;;) {
    const before = fileOf(path);
    const lock = ProcessLock.tryTake(path);
    if (!lock) return null;
    // Otherwise the previous holder removed the file that was locked; try again with the new one.
    if (before !== undefined && before === fileOf(path))
      return () => {
        rmSync(path, { force: true });
        lock.release();
      };
    lock.release();
  }
}

const fileOf = (path: string): bigint | undefined => statSync(path, { bigint: true, throwIfNoEntry: false })?.ino;
