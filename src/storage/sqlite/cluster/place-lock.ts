import { rmSync, statSync } from 'node:fs';
import { ProcessLock } from './exclusive-access.ts';

/**
 * Takes a lock whose file is there only while it is held.
 * @returns what releases it; `null` where it is held, also by this process
 */
export function tryLockPlace(path: string): (() => void) | null {
  for (;;) {
    const before = fileOf(path);
    const lock = ProcessLock.tryTake(path);
    if (!lock) return null;
    // Else it is the lock of a file that who held it before has removed meanwhile.
    if (before !== undefined && before === fileOf(path))
      return () => {
        rmSync(path, { force: true });
        lock.release();
      };
    lock.release();
  }
}

const fileOf = (path: string): bigint | undefined => statSync(path, { bigint: true, throwIfNoEntry: false })?.ino;
