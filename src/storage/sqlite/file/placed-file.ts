import type { Stats } from 'node:fs';
import type { ServiceError } from '../../../errors/fail.ts';
import { missingError } from '../connection/map-error.ts';
import { fileAt, isSameFile } from './storage-check.ts';

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
