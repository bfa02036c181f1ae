import { KeyDigests } from './keys.ts';

/** What rows of a file have made of which queries may not tell yet. */
export class MadeRecords {
  /** Of the group that is under way: objectIds by key. */
  readonly #group = new Map<string, string>();
  /** Of groups before it that were undone: what a dry run would have made. */
  readonly #undone: KeyDigests | null;

  constructor(isDry: boolean) {
    this.#undone = isDry ? new KeyDigests() : null;
  }

  add(key: string, objectId: string): void {
    this.#group.set(key, objectId);
  }

  /** The record with a key, as far as it was made in this group. */
  find(key: string): string | undefined {
    return this.#group.get(key);
  }

  /** Whether an earlier group of a dry run would have made one. */
  wouldBe(key: string): boolean {
    return this.#undone?.has(key) === true;
  }

  /** Nothing of the group stays. */
  undo(): void {
    this.#group.clear();
  }

  /** The group is done. */
  next(): void {
    if (this.#undone) for (const key of this.#group.keys()) this.#undone.add(key);
    this.#group.clear();
  }
}
