import { LRUCache } from 'lru-cache';

/** How long a table counts as one of large records, in milliseconds: what is read at once for nothing is read again. */
const REMEMBERED_MS = 10_000;

/** Tables whose records turned out too large lately to be read at once. */
export class LargeTables {
  readonly #seen = new LRUCache<string, true>({ max: 1_000, ttl: REMEMBERED_MS });

  note(className: string): void {
    this.#seen.set(className, true);
  }

  has(className: string): boolean {
    return this.#seen.size > 0 && this.#seen.has(className);
  }
}
