import { closeSync, fdatasyncSync, openSync, readSync, rmSync, type Stats, statSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ServiceError } from '../../../errors/fail.ts';
import { type PassingFault, passingFaultOfSystem } from '../../../errors/system-faults.ts';
import { missingError } from '../connection/map-error.ts';

/** What of a file is at its place. */
export type Place = 'there' | 'without its log' | 'without its index' | 'missing';

const partOf = { missing: '', 'without its log': '-wal', 'without its index': '-shm' } as const;

/** `unavailable`, since a part of a file is not where it was. */
export function missingPart(path: string, what: Exclude<Place, 'there'>): ServiceError {
  return missingError(`${path}${partOf[what]}`);
}

/** Milliseconds that a look at the index counts for. */
const INDEX_MS = 5;

/**
 * Knows which file is open, with its log, and whether both are still at their places: what is written to one that was unlinked is lost. So is the
 * log's index, by which processes agree on where each writes: a process that opens the file without it makes another, and both write over each other.
 */
export class PlacedFile {
  readonly #path: string;
  #file: Stats | null = null;
  #log: Stats | null = null;
  #index: Stats | null = null;
  #indexSeenAt = Number.NEGATIVE_INFINITY;

  constructor(path: string) {
    this.#path = path;
  }

  /** The file at the place is the one that was opened. */
  opened(): void {
    this.#file = this.#log = this.#index = null;
    try {
      this.#file = fileAt(this.#path);
      // Made by the first read, which may be yet to come.
      this.#log = fileAt(`${this.#path}-wal`);
      this.#index = fileAt(`${this.#path}-shm`);
    } catch {}
    this.#indexSeenAt = Number.NEGATIVE_INFINITY;
  }

  /** Whether the file at the place is another one than was opened. @param now the one that is there */
  isAnother(now: Stats): boolean {
    return this.#file !== null && !isSameFile(now, this.#file);
  }

  /** Costs a few microseconds. */
  look(): Place {
    if (this.#file === null) return 'there';
    try {
      const file = fileAt(this.#path);
      const log = fileAt(`${this.#path}-wal`);
      this.#log ??= log;
      if (!isSameFile(file, this.#file)) return 'missing';
      // None was there yet, and none is.
      if (this.#log === null) return 'there';
      if (!isSameFile(log, this.#log)) return 'without its log';
      return this.#hasIndex() ? 'there' : 'without its index';
    } catch {
      // Not even that can be told: the next statement says more.
      return 'there';
    }
  }

  #hasIndex(): boolean {
    const now = performance.now();
    if (now - this.#indexSeenAt < INDEX_MS) return true;
    const index = fileAt(`${this.#path}-shm`);
    this.#index ??= index;
    if (this.#index !== null && !isSameFile(index, this.#index)) return false;
    this.#indexSeenAt = now;
    return true;
  }
}

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
