import { closeSync, fdatasyncSync, openSync, readSync, rmSync, type Stats, statSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type PassingFault, passingFaultOfSystem } from '../../../errors/system-faults.ts';

/** Written beside a store to see what its storage says, and removed at once. */
const FILE = '.room';
/** Bytes of it: as much as a common commit adds to the log. */
const ROOM = Buffer.alloc(64 * 1024);

/**
 * What the operating system says of the storage where a file is: SQLite does not tell a full quota or a read-only mount from a device that
 * fails, nor a read that fails from a page that is wrong. For use after a fault only: it is synchronous.
 * @returns `null` where it takes what is written and gives it back
 */
export function checkStorage(path: string): PassingFault | null {
  const file = join(dirname(path), FILE);
  try {
    const descriptor = openSync(file, 'w+', 0o600);
    try {
      for (let at = 0; at < ROOM.length; ) at += writeSync(descriptor, ROOM, at);
      fdatasyncSync(descriptor);
      readSync(descriptor, Buffer.alloc(1), 0, 1, 0);
    } finally {
      closeSync(descriptor);
    }
    return null;
  } catch (error) {
    return passingFaultOfSystem(error) ?? ((error as NodeJS.ErrnoException).code === 'ENOENT' ? 'the store is missing' : null);
  } finally {
    try {
      rmSync(file, { force: true });
    } catch {
      // It is written over the next time.
    }
  }
}

/** The same, known for a while. */
export class KnownStorage {
  readonly #path: string;
  readonly #forMs: number;
  #known: { readonly says: PassingFault | null; readonly at: number } | undefined;

  constructor(path: string, forMs: number) {
    this.#path = path;
    this.#forMs = forMs;
  }

  says(): PassingFault | null {
    if (!this.#known || performance.now() - this.#known.at > this.#forMs)
      this.#known = { says: checkStorage(this.#path), at: performance.now() };
    return this.#known.says;
  }
}

/** Which file is at a path; `null` where none is. @throws the operating system's error where that cannot be told */
export function fileAt(path: string): Stats | null {
  return statSync(path, { throwIfNoEntry: false }) ?? null;
}

/** Whether both are one file, whatever happened to what is in it. */
export function isSameFile(one: Stats | null, other: Stats | null): boolean {
  return one !== null && other !== null && one.ino === other.ino && one.dev === other.dev;
}
