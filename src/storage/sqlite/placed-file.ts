import type { Stats } from 'node:fs';
import { fileAt, isSameFile } from './storage-look.ts';

/** Knows which file is open, with its log, and whether both are still at their places: what is written to one that was unlinked is lost. */
export class PlacedFile {
  readonly #path: string;
  #file: Stats | null = null;
  #log: Stats | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  /** The file at the place is the one that was opened. */
  opened(): void {
    try {
      this.#file = fileAt(this.#path);
    } catch {
      this.#file = null;
    }
    // It is made by the first read.
    this.#log = null;
  }

  /** Costs a few microseconds. */
  look(): 'there' | 'without its log' | 'missing' {
    if (this.#file === null) return 'there';
    try {
      const file = fileAt(this.#path);
      const log = fileAt(`${this.#path}-wal`);
      this.#log ??= log;
      if (!isSameFile(file, this.#file)) return 'missing';
      // None was there yet, and none is.
      if (this.#log === null) return 'there';
      return isSameFile(log, this.#log) ? 'there' : 'without its log';
    } catch {
      // Not even that can be told: the next statement says more.
      return 'there';
    }
  }
}
