import { KeyDigests } from './keys.ts';

/** Records created by rows of the file that queries may not see yet. */
export class CreatedRecords {
  /** Of the current group: objectIds by key. */
  readonly #group = new Map<string, string>();
  /** Of earlier, rolled-back groups of a dry run. */
  readonly #rolledBack: KeyDigests | null;

  constructor(isDry: boolean) {
    this.#rolledBack = isDry ? new KeyDigests() : null;
  }

  add(key: string, objectId: string): void {
    this.#group.set(key, objectId);
  }

  /** Returns the record with a key, if it was created in this group. */
  find(key: string): string | undefined {
    return this.#group.get(key);
  }

  /** Whether an earlier group of a dry run would have created a record with this key. */
  wouldBe(key: string): boolean {
    return this.#rolledBack?.has(key) === true;
  }

  /** The group was rolled back. */
  undo(): void {
    this.#group.clear();
  }

  /** The group is complete. */
  next(): void {
    if (this.#rolledBack) for (const key of this.#group.keys()) this.#rolledBack.add(key);
    this.#group.clear();
  }
}
