import { closeSync, fdatasyncSync, openSync, readSync, rmSync, type Stats, statSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ServiceError } from '../../../errors/fail.ts';
import { type PassingFault, passingFaultOfSystem } from '../../../errors/system-faults.ts';
import { missingError } from '../connection/map-error.ts';

/** Which parts of an open file are still at their paths. */
export type FileState = 'there' | 'without its log' | 'without its index' | 'missing';

const partOf = { missing: '', 'without its log': '-wal', 'without its index': '-shm' } as const;

/** Returns `unavailable`: a part of a file is not at its path. */
export function missingPart(path: string, what: Exclude<FileState, 'there'>): ServiceError {
  return missingError(`${path}${partOf[what]}`);
}

/** How long a check of the index stays valid. */
const INDEX_CHECK_TTL_MS = 5;

/**
 * Detects whether an open file and its WAL are still at their paths: writes to an unlinked file are lost. The same holds for the WAL index, by which
 * processes coordinate their writes: a process that opens the file without it creates another one, and both overwrite each other's pages.
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

  /** Call when the file at the path has been opened. */
  opened(): void {
    this.#file = this.#log = this.#index = null;
    try {
      this.#file = fileAt(this.#path);
      // The first read creates them; it may be yet to come.
      this.#log = fileAt(`${this.#path}-wal`);
      this.#index = fileAt(`${this.#path}-shm`);
    } catch {}
    this.#indexSeenAt = Number.NEGATIVE_INFINITY;
  }

  /** Returns whether the file at the path is another one than was opened. @param now the file that is there */
  isAnother(now: Stats): boolean {
    return this.#file !== null && !isSameFile(now, this.#file);
  }

  /** Checks the paths; costs a few microseconds. */
  check(): FileState {
    if (this.#file === null) return 'there';
    try {
      const file = fileAt(this.#path);
      const log = fileAt(`${this.#path}-wal`);
      this.#log ??= log;
      if (!isSameFile(file, this.#file)) return 'missing';
      // There was no WAL, and there is none.
      if (this.#log === null) return 'there';
      if (!isSameFile(log, this.#log)) return 'without its log';
      return this.#hasIndex() ? 'there' : 'without its index';
    } catch {
      // Unknown; the next statement will report the fault.
      return 'there';
    }
  }

  #hasIndex(): boolean {
    const now = performance.now();
    if (now - this.#indexSeenAt < INDEX_CHECK_TTL_MS) return true;
    const index = fileAt(`${this.#path}-shm`);
    this.#index ??= index;
    if (this.#index !== null && !isSameFile(index, this.#index)) return false;
    this.#indexSeenAt = now;
    return true;
  }
}

/** File that is written beside a store to test its storage, and then removed. */
const FILE = '.room';
/** Its content: about as large as what a typical commit adds to the WAL. */
const PROBE_BYTES = Buffer.alloc(64 * 1024);

/**
 * Tests the storage of a file by the operating system: SQLite does not distinguish a full quota or a read-only mount from a failing device, nor a
 * failed read from a corrupt page. Only for use after a fault, since it is synchronous.
 * @returns `null` if a write can be read back
 */
export function checkStorage(path: string): PassingFault | null {
  const file = join(dirname(path), FILE);
  try {
    const descriptor = openSync(file, 'w+', 0o600);
    try {
      for (let at = 0; at < PROBE_BYTES.length; ) at += writeSync(descriptor, PROBE_BYTES, at);
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
      // The next test overwrites it.
    }
  }
}

/** Caches the result of `checkStorage`. */
export class StorageCheck {
  readonly #path: string;
  readonly #ttlMs: number;
  #known: { readonly fault: PassingFault | null; readonly at: number } | undefined;

  constructor(path: string, ttlMs: number) {
    this.#path = path;
    this.#ttlMs = ttlMs;
  }

  fault(): PassingFault | null {
    if (!this.#known || performance.now() - this.#known.at > this.#ttlMs)
      this.#known = { fault: checkStorage(this.#path), at: performance.now() };
    return this.#known.fault;
  }
}

/** Returns the file at a path; `null` if there is none. @throws the operating system's error if that cannot be determined */
export function fileAt(path: string): Stats | null {
  return statSync(path, { throwIfNoEntry: false }) ?? null;
}

/** Returns whether both are the same file, regardless of its content. */
export function isSameFile(one: Stats | null, other: Stats | null): boolean {
  return one !== null && other !== null && one.ino === other.ino && one.dev === other.dev;
}
