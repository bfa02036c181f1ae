import type { DatabaseSync } from 'node:sqlite';
import { LRUCache } from 'lru-cache';

/** Statements that are used again, up to so many characters of text: a prepared one takes some ten times its text. */
const kept = { max: 500, maxSize: 2_000_000, sizeCalculation: (_: unknown, text: string) => text.length };

/** What was made of statements that are used again. */
export class StatementCache<T extends NonNullable<unknown>> {
  readonly #make: (db: DatabaseSync, text: string) => T;
  readonly #made = new LRUCache<string, T>(kept);

  constructor(make: (db: DatabaseSync, text: string) => T) {
    this.#make = make;
  }

  get(text: string): T | undefined {
    return this.#made.get(text);
  }

  /** @throws what the making throws */
  add(db: DatabaseSync, text: string): T {
    const made = this.#make(db, text);
    this.#made.set(text, made);
    return made;
  }

  clear(): void {
    this.#made.clear();
  }
}
